"""Writes goldens.json: numbers that scikit-learn, statsmodels, SciPy and NumPy compute, for the tests of pkg/calibration.

    python3 -m venv v && v/bin/pip install --no-deps --require-hashes -r requirements.txt && v/bin/python goldens.py
"""

import json
import pathlib

import numpy as np
from scipy import optimize, special, stats
from sklearn import metrics
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(20)


def multiclass(n, k, power, ordered):
    """Probabilities of k classes, and labels that follow them to a power."""
    if ordered:
        centre = random.uniform(0, k - 1, (n, 1))
        logits = -0.7 * (np.arange(k) - centre) ** 2 + 0.3 * random.normal(size=(n, k))
    else:
        logits = 1.2 * random.normal(size=(n, k))
    p = np.round(special.softmax(logits, axis=1), 6)
    p[:, -1] = np.round(1 - p[:, :-1].sum(axis=1), 6)
    q = p**power / (p**power).sum(axis=1, keepdims=True)
    y = (random.uniform(size=(n, 1)) > q.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return p, y


def bins_of(p, count):
    """The quantile bins of the package: floor(count * values below / n)."""
    return np.array([count * (p < v).sum() // len(p) for v in p])


def errors(p, hit, bins):
    """Plain and debiased squared calibration error: Naeini 2015, and Kumar 2019 (calibration.utils.unbiased_square_ce)."""
    plain = square = 0.0
    for b in np.unique(bins):
        m = bins == b
        weight, rate, gap = m.mean(), hit[m].mean(), p[m].mean() - hit[m].mean()
        plain += weight * abs(gap)
        square += weight * (gap**2 - rate * (1 - rate) / (m.sum() - 1))
    return plain, square


def case(kind, n, k, power):
    p, y = multiclass(n, k, power, kind == "scale")
    chosen = p.argmax(axis=1)
    one = np.eye(k)[y]
    confidence, hit = p.max(axis=1), (chosen == y).astype(float)
    plain, square = errors(confidence, hit, bins_of(confidence, min(15, n // 25)))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(y, chosen, labels=range(k), zero_division=0)
    loss = lambda t: metrics.log_loss(y, special.softmax(np.log(p) / t, axis=1), labels=range(k))
    slope = lambda power: np.mean(
        (special.softmax(power * np.log(p), axis=1) * np.log(p)).sum(axis=1) - np.log(p[np.arange(n), y])
    )
    temperature = 1 / optimize.brentq(slope, 0.05, 20, xtol=1e-14)
    return {
        "kind": kind,
        "probabilities": p.tolist(),
        "labels": y.tolist(),
        "accuracy": metrics.accuracy_score(y, chosen),
        "wilson": proportion_confint(hit.sum(), n, method="wilson"),
        "log_loss": metrics.log_loss(y, p, labels=range(k)),
        "brier": ((p - one) ** 2).sum(axis=1).mean(),
        "macro_f1": metrics.f1_score(y, chosen, average="macro"),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "f1": f1.tolist(),
        "support": support.tolist(),
        "recall_wilson": [proportion_confint(((chosen == c) & (y == c)).sum(), (y == c).sum(), method="wilson") for c in range(k)],
        "confusion": metrics.confusion_matrix(y, chosen, labels=range(k)).tolist(),
        "rps": (((p - one).cumsum(axis=1)[:, :-1] ** 2).sum(axis=1) / (k - 1)).mean(),
        "mae": metrics.mean_absolute_error(y, chosen),
        "kappa": metrics.cohen_kappa_score(y, chosen, labels=range(k), weights="quadratic"),
        "ece_plain": plain,
        "ece_square": square,
        "temperature": temperature,
        "loss_after": loss(temperature),
    }


def binary(n, power, digits):
    p = np.round(random.uniform(0.01, 0.99, n), digits)
    q = p**power / (p**power + (1 - p) ** power)
    y = (random.uniform(size=n) < q).astype(int)
    plain, square = errors(p, y.astype(float), bins_of(p, min(15, n // 25)))
    score = np.log(p / (1 - p))
    yes, no = y.sum(), n - y.sum()
    target = np.where(y == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
    start = -np.array(_sigmoid_calibration(score, y))  # σ(-(a·score + b)); stops early, so Newton's method goes on
    gradient = lambda w: (lambda d: [(d * score).sum(), d.sum()])(special.expit(w[0] * score + w[1]) - target)
    a, b = optimize.root(gradient, start, tol=1e-13).x
    assert np.allclose([a, b], start, atol=1e-4)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    at = np.linspace(0, 1, 41)
    return {
        "probabilities": p.tolist(),
        "labels": y.tolist(),
        "brier": metrics.brier_score_loss(y, p),
        "log_loss": metrics.log_loss(y, p),
        "macro_f1": metrics.f1_score(y, p >= 0.5, average="macro"),
        "ece_plain": plain,
        "ece_square": square,
        "a": a,
        "b": b,
        "isotonic": isotonic.predict(at).tolist(),
        "f1": [metrics.f1_score(y, p >= 0.5, pos_label=c) for c in (0, 1)],
    }


def of_sets(y, chosen):
    """The multilabel measures of scikit-learn, and which answers are right as a whole."""
    average = lambda how: dict(
        zip(("precision", "recall", "f1"), metrics.precision_recall_fscore_support(y, chosen, average=how, zero_division=0)[:3])
    )
    return (chosen == y).all(axis=1), {
        "exact_match": metrics.accuracy_score(y, chosen),
        "hamming_loss": metrics.hamming_loss(y, chosen),
        "micro": average("micro"),
        "macro": average("macro"),
    }


def several(random, n, k, power):
    """Probabilities of k options that are right each by itself. The last two options are rare: one is never answered, one never right."""
    p = np.round(random.beta(0.5, 1.5, (n, k)), 6).clip(1e-6, 1 - 1e-6)
    q = p**power / (p**power + (1 - p) ** power)
    y = (random.uniform(size=(n, k)) < q).astype(int)
    p[:, -2] = np.round(p[:, -2] * 0.49, 6)
    y[:, -1] = 0
    chosen = (p >= 0.5).astype(int)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(y, chosen, average=None, zero_division=0)
    exact, measured = of_sets(y, chosen)
    other = np.round(0.5 * p + 0.5 * random.uniform(size=(n, k)), 6)  # another version, which knows less
    other_exact, other_measured = of_sets(y, (other >= 0.5).astype(int))
    only = [int((exact & ~other_exact).sum()), int((other_exact & ~exact).sum())]
    return {
        "probabilities": p.tolist(),
        "labels": y.tolist(),
        "exact_wilson": proportion_confint(exact.sum(), n, method="wilson"),
        **measured,
        "other": {
            "probabilities": other.tolist(),
            **other_measured,
            "only": only,
            "mcnemar": mcnemar([[0, only[0]], [only[1], 0]], exact=True).pvalue,
        },
        "options": [
            {
                "precision": precision[i],
                "recall": recall[i],
                "f1": f1[i],
                "support": support[i],
                "brier": metrics.brier_score_loss(y[:, i], p[:, i]),
                "log_loss": metrics.log_loss(y[:, i], p[:, i], labels=[0, 1]),
                "accuracy": metrics.accuracy_score(y[:, i], chosen[:, i]),
            }
            for i in range(k)
        ],
    }


def noncentral(bins):
    """A quadratic form of equal weights is a scaled noncentral χ², whose distribution SciPy knows."""
    return [
        {"bins": bins, "shift": shift, "at": at, "cdf": stats.ncx2.cdf(at, bins, bins * shift**2) if shift else stats.chi2.cdf(at, bins)}
        for shift in (0.0, 0.5, 2.0)
        for at in (0.5 * bins, bins, 3.0 * bins, 6.0 * bins)
    ]


goldens = {
    "cases": [case("choice", 300, 4, 0.6), case("choice", 1000, 12, 1.8), case("scale", 400, 5, 0.7), case("scale", 150, 3, 1.0)],
    "binary": [binary(240, 1.7, 6), binary(1200, 0.5, 2)],
    "wilson": [
        {"hits": hits, "n": n, "interval": proportion_confint(hits, n, method="wilson")}
        for hits, n in [(0, 5), (5, 5), (1, 30), (412, 500), (9999, 10000)]
    ],
    "mcnemar": [
        {"a": a, "b": b, "p": mcnemar([[0, a], [b, 0]], exact=True).pvalue}
        for a, b in [(0, 0), (0, 1), (12, 5), (5, 12), (7, 7), (30, 61), (900, 1100)]
    ],
    "chi2": [
        {"p": p, "freedom": freedom, "x": stats.chi2.ppf(p, freedom)}
        for p in (0.001, 0.5, 0.95, 0.999)
        for freedom in (1, 2, 9, 25, 100)
    ],
    "forms": noncentral(4) + noncentral(15),
    "several": [several(np.random.default_rng(n), n, k, power) for n, k, power in [(300, 5, 1.0), (120, 12, 0.6), (40, 3, 2.0)]],
}


def plain_numbers(value):
    """NumPy's numbers and arrays as Python's."""
    return value.item() if isinstance(value, np.generic) else list(value)


pathlib.Path(__file__).with_name("goldens.json").write_text(json.dumps(goldens, default=plain_numbers) + "\n")
