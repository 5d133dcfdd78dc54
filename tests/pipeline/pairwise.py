"""Covering arrays: rows that hold every pair of values of any two factors, made greedily from a seed."""
import itertools
import random


def pairs_of(row):
    """Every pair of (factor, value) in a row, in the order of the factors."""
    return itertools.combinations(tuple(row.items()), 2)


def all_pairs(factors):
    return {((a, x), (b, y)) for (a, xs), (b, ys) in itertools.combinations(factors.items(), 2) for x in xs for y in ys}


def covering_array(factors, seed, tries=20):
    """Rows (dicts) that together hold all pairs. Each row is the best of `tries` grown from one missing pair: the other factors
    in a random order, each with the value that meets most pairs still missing."""
    rng, missing, rows = random.Random(seed), all_pairs(factors), []
    while missing:
        start = sorted(missing)
        best, gain = None, -1
        for _ in range(tries):
            chosen = dict(rng.choice(start))
            rest = [name for name in factors if name not in chosen]
            rng.shuffle(rest)
            for name in rest:
                values = list(factors[name])
                rng.shuffle(values)
                chosen[name] = max(values, key=lambda value: sum(pair(factors, name, value, *other) in missing for other in chosen.items()))
            row = {name: chosen[name] for name in factors}
            found = sum(p in missing for p in pairs_of(row))
            if found > gain:
                best, gain = row, found
        rows.append(best)
        missing -= set(pairs_of(best))
    return rows


def pair(factors, a, x, b, y):
    """The pair as pairs_of gives it: in the order of the factors."""
    order = list(factors)
    return ((a, x), (b, y)) if order.index(a) < order.index(b) else ((b, y), (a, x))
