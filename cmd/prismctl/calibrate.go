package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/prism"
)

// versionFlag adds the flag of the version of a prism: 0 is the latest.
func versionFlag(cmd *cobra.Command, number *int) {
	cmd.Flags().IntVar(number, "version", 0, "number of the version; the latest without it")
}

// versionOf is the version with the number, or the latest of the prism if the number is 0.
func versionOf(cmd *cobra.Command, c *client.Client, prism string, number int) (int, error) {
	if number != 0 {
		return number, nil
	}
	p, err := c.ReadPrism(cmd.Context(), prism)
	return p.LatestVersion, err
}

func (a *app) calibrate() *cobra.Command {
	calibrate := group("calibrate", "Fit calibrations to labels, list and pin them")
	calibrate.AddCommand(a.calibrateFit(), a.calibrateList(), a.calibratePin(), a.calibrateUnpin())
	return calibrate
}

func (a *app) calibrateFit() *cobra.Command {
	var (
		number           int
		question, method string
		pin              bool
	)
	cmd := a.calling(description{
		use: "fit PRISM", short: "Fit a calibration to the labels of a question and print its id",
		example: `prismctl calibrate fit tickets --question urgent
prismctl calibrate fit tickets --question urgent --method platt --pin`,
		complete: a.completePrisms,
	},
		func(cmd *cobra.Command, c *client.Client, args []string) error {
			if question == "" {
				return usage(errors.New("--question is missing"))
			}
			version, err := versionOf(cmd, c, args[0], number)
			if err != nil {
				return err
			}
			key, option := prism.SplitTarget(question)
			made, err := c.CreateCalibration(cmd.Context(), args[0], version, client.NewCalibration{
				Question: key, Option: option, Method: client.CalibrationMethod(method),
			})
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(a.err, "%s, fitted to %d labels: log loss %.4f before and %.4f after, %.4f less (%.4f to %.4f).\n",
				describe(made), made.Labels, made.LogLossBefore, made.LogLossAfter, made.Gain.Value, made.Gain.Low, made.Gain.High)
			if pin {
				if _, err := c.PinCalibrations(cmd.Context(), args[0], version, map[string]*string{question: &made.ID}); err != nil {
					return err
				}
				_, _ = fmt.Fprintf(a.err, "It is pinned to version %d.\n", version)
			}
			_, err = fmt.Fprintln(a.out, made.ID)
			return err
		})
	versionFlag(cmd, &number)
	cmd.Flags().StringVar(&question, "question", "", "key of the question, or an option such as tags.vip")
	completeFlag(cmd, "question", a.completeQuestions)
	cmd.Flags().StringVar(&method, "method", string(client.AutoCalibration), "auto, temperature, platt or isotonic")
	choices(cmd, "method", string(client.AutoCalibration), string(client.TemperatureCalibration), string(client.PlattCalibration),
		string(client.IsotonicCalibration))
	cmd.Flags().BoolVar(&pin, "pin", false, "pin it at once, so that calibrated columns of the Lens show it")
	return cmd
}

// describe is the method of a calibration with its numbers.
func describe(c client.Calibration) string {
	switch {
	case c.Temperature != nil:
		return fmt.Sprintf("temperature %.4g", *c.Temperature)
	case c.A != nil && c.B != nil:
		return fmt.Sprintf("platt a %.4g, b %.4g", *c.A, *c.B)
	case c.Points != nil:
		return fmt.Sprintf("isotonic with %d points", len(*c.Points))
	}
	return string(c.Method)
}

func (a *app) calibrateList() *cobra.Command {
	var (
		number   int
		question string
		output   *output
	)
	cmd := a.calling(description{
		use: "list PRISM", short: "List the calibrations of a version, newest first, and which are pinned",
		example: `prismctl calibrate list tickets
prismctl calibrate list tickets --question urgent -o json`,
		complete: a.completePrisms,
	},
		func(cmd *cobra.Command, c *client.Client, args []string) error {
			version, err := versionOf(cmd, c, args[0], number)
			if err != nil {
				return err
			}
			pinned, err := c.ReadPinnedCalibrations(cmd.Context(), args[0], version)
			if err != nil {
				return err
			}
			found := c.Calibrations(cmd.Context(), args[0], version, question)
			return list(cmd.Context(), a, output, found, calibrationColumns, func(m client.Calibration) row {
				is := "no"
				if id := pinned.Questions[prism.TargetName(m.Question, m.Option)]; id != nil && *id == m.ID {
					is = "yes"
				}
				figure := func(f float64) string { return fmt.Sprintf("%.4f", f) }
				return row{cells: []string{
					m.ID, prism.TargetName(m.Question, m.Option), describe(m), fmt.Sprint(m.Labels), figure(m.LogLossBefore), figure(m.LogLossAfter), figure(m.Gain.Low),
					figure(m.Gain.High), is, m.CreatedAt.String(),
				}}
			})
		})
	versionFlag(cmd, &number)
	cmd.Flags().StringVar(&question, "question", "", "only of this question, or an option such as tags.vip")
	completeFlag(cmd, "question", a.completeQuestions)
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var calibrationColumns = columns{
	"id question method labels log_loss_before log_loss_after gain_low gain_high pinned created_at",
	"id question~ method~ labels pinned",
}

func (a *app) calibratePin() *cobra.Command {
	var number int
	cmd := a.calling(description{
		use: "pin PRISM ID...", short: "Pin calibrations to their questions, in place of the ones that they have",
		example: `prismctl calibrate pin tickets "$CALIBRATION"`, complete: a.completePrisms,
	},
		func(cmd *cobra.Command, c *client.Client, args []string) error {
			version, err := versionOf(cmd, c, args[0], number)
			if err != nil {
				return err
			}
			pins := map[string]*string{}
			for _, id := range args[1:] {
				calibration, err := c.ReadCalibration(cmd.Context(), args[0], version, id)
				if err != nil {
					return err
				}
				target := prism.TargetName(calibration.Question, calibration.Option)
				if pins[target] != nil {
					return usage(fmt.Errorf("two of the calibrations are of the question %s", target))
				}
				pins[target] = &calibration.ID
			}
			return a.changePins(cmd, c, args[0], version, pins)
		})
	versionFlag(cmd, &number)
	return cmd
}

func (a *app) calibrateUnpin() *cobra.Command {
	var number int
	cmd := a.calling(description{
		use: "unpin PRISM QUESTION...", short: "Take the calibrations of questions away, so that calibrated columns show nothing",
		example: `prismctl calibrate unpin tickets urgent`, complete: a.completePrisms,
	},
		func(cmd *cobra.Command, c *client.Client, args []string) error {
			version, err := versionOf(cmd, c, args[0], number)
			if err != nil {
				return err
			}
			pins := map[string]*string{}
			for _, question := range args[1:] {
				pins[question] = nil
			}
			return a.changePins(cmd, c, args[0], version, pins)
		})
	versionFlag(cmd, &number)
	return cmd
}

// changePins changes pins and prints the calibration that each question then has.
func (a *app) changePins(cmd *cobra.Command, c *client.Client, prism string, version int, pins map[string]*string) error {
	now, err := c.PinCalibrations(cmd.Context(), prism, version, pins)
	if err != nil {
		return err
	}
	for _, question := range slices.Sorted(maps.Keys(now.Questions)) {
		is := "nothing"
		if id := now.Questions[question]; id != nil {
			is = *id
		}
		_, _ = fmt.Fprintf(a.err, "%s: %s\n", question, is)
	}
	return nil
}
