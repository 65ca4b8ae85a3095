package service

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

type operation = contract.Operation

// The operations. One that the table of needed roles forgets needs a role that nobody has.
const (
	createResult  operation = "createResult"
	retryResult   operation = "retryResult"
	readResult    operation = "readResult"
	listResults   operation = "listResults"
	exportResults operation = "exportResults"
	createPrism             = contract.CreatePrism
	listPrisms    operation = "listPrisms"
	readPrism     operation = "readPrism"
	renamePrism   operation = "renamePrism"
	listVersions  operation = "listVersions"
	createVersion           = contract.CreateVersion
	readVersion   operation = "readVersion"
	replaceLens   operation = "replaceLens"
	previewLens   operation = "previewLens"
	archivePrism  operation = "archivePrism" // and unarchivePrism
	tryDefinition           = contract.TryDefinition
	createKey     operation = "createKey"
	listKeys      operation = "listKeys"
	revokeKey     operation = "revokeKey"
	listAudit     operation = "listAudit"
	listModels              = contract.ListModels
	readRecord    operation = "readRecord"
	readUsage     operation = "readUsage"
	deleteResult  operation = "deleteResult"
	deleteResults operation = "deleteResults"
	retryResults  operation = "retryResults" // and its dry run
	createFile    operation = "createFile"
	putPart       operation = "putPart"
	completeFile  operation = "completeFile"
	listFiles     operation = "listFiles"
	readFile      operation = "readFile"
	readFileRows  operation = "readFileRows"
	deleteFile    operation = "deleteFile"
	createRun     operation = "createRun" // and its dry run
	listRuns      operation = "listRuns"
	readRun       operation = "readRun"
	actOnRun      operation = "actOnRun" // pauseRun, resumeRun, cancelRun and retryRun
	setRunLimits  operation = "setRunLimits"
	listRunRows   operation = "listRunRows"
	addMember     operation = "addMember"
	listMembers   operation = "listMembers"
	changeMember  operation = "changeMember"
	removeMember  operation = "removeMember"
	linkMember    operation = "linkMember"

	putLabels      operation = "putLabels"
	readLabels     operation = "readLabels"
	addLabels      operation = "addLabels"
	listLabels     operation = "listLabels"
	listLabelQueue operation = "listLabelQueue"

	createCalibration operation = "createCalibration"
	listCalibrations  operation = "listCalibrations"
	readCalibration   operation = "readCalibration"
	pinCalibrations   operation = "pinCalibrations"
	readPins          operation = "readPinnedCalibrations"
	readQuality       operation = "readQuality"
	readThresholds    operation = "readThresholds"
	compareVersions   operation = "compareVersions"
	readDrift         operation = "readDrift"
	setDrift          operation = "setDrift"
)

// neededRoles are the least roles that may do each operation (spec: roles). A key is made by an owner, so nobody makes a key
// with more rights than their own (spec: no-key-above-its-maker), and so do members.
var neededRoles = map[operation]prism.Role{
	createKey: prism.Owner,
	listKeys:  prism.Owner,
	revokeKey: prism.Owner,
	listAudit: prism.Owner,

	addMember:    prism.Owner,
	listMembers:  prism.Owner,
	changeMember: prism.Owner,
	removeMember: prism.Owner,
	linkMember:   prism.Owner,

	createPrism:   prism.Editor,
	renamePrism:   prism.Editor,
	createVersion: prism.Editor,
	replaceLens:   prism.Editor,
	archivePrism:  prism.Editor,
	tryDefinition: prism.Editor,

	createCalibration: prism.Editor,
	pinCalibrations:   prism.Editor,

	deleteResult:  prism.Editor,
	deleteResults: prism.Editor,
	setDrift:      prism.Editor,

	createResult: prism.Caller,
	retryResult:  prism.Caller,
	retryResults: prism.Caller,
	createFile:   prism.Caller,
	putPart:      prism.Caller,
	completeFile: prism.Caller,
	deleteFile:   prism.Caller,
	createRun:    prism.Caller,
	actOnRun:     prism.Caller,
	setRunLimits: prism.Caller,

	putLabels: prism.Labeller,
	addLabels: prism.Labeller,

	readLabels:     prism.Reader,
	listLabels:     prism.Reader,
	listLabelQueue: prism.Reader,

	readResult:    prism.Reader,
	listResults:   prism.Reader,
	exportResults: prism.Reader,
	listPrisms:    prism.Reader,
	readPrism:     prism.Reader,
	listVersions:  prism.Reader,
	readVersion:   prism.Reader,
	previewLens:   prism.Reader,
	listModels:    prism.Reader,
	readRecord:    prism.Reader,
	readUsage:     prism.Reader,
	listFiles:     prism.Reader,
	readFile:      prism.Reader,
	readFileRows:  prism.Reader,
	listRuns:      prism.Reader,
	readRun:       prism.Reader,
	listRunRows:   prism.Reader,

	listCalibrations: prism.Reader,
	readCalibration:  prism.Reader,
	readPins:         prism.Reader,
	readQuality:      prism.Reader,
	readThresholds:   prism.Reader,
	compareVersions:  prism.Reader,
	readDrift:        prism.Reader,
}

// neededRole is the least role that may do an operation.
func neededRole(op operation) prism.Role {
	if declared, ok := api.Find(string(op)); ok {
		return declared.Declared().Role
	}
	return neededRoles[op]
}

// admit checks that a key is known and has not expired, and that its role allows the operation (spec: key-expiry,
// order-of-checks-role). It records that the key was used.
func (s *Service) admit(c store.Caller, op operation) error {
	now := s.Now()
	if !known(c, now) {
		return apierr.InvalidAPIKey()
	}
	s.lastUses.touch(c.Key, now)
	if !c.Role.Includes(neededRole(op)) {
		return apierr.RoleNotAllowed()
	}
	return nil
}

// known tells whether the key exists and has not expired.
func known(c store.Caller, now time.Time) bool {
	return !c.Account.IsZero() && (c.ExpiresAt == nil || now.Before(*c.ExpiresAt))
}

// authenticate finds the caller that an API key stands for: apierr.InvalidAPIKey, apierr.RoleNotAllowed.
func (s *Service) authenticate(ctx context.Context, key contract.KeyDigest, op operation) (store.Caller, error) {
	found, err := s.Store.Authenticate(ctx, key)
	if err != nil {
		return store.Caller{}, translate(err, nil)
	}
	return found, s.admit(found, op)
}
