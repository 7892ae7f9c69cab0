// SPDX-License-Identifier: Apache-2.0
// Is what differs between two selections more than noise? The same tests as report/diff/diff_stats.c, whose header says why.
import { difference, share } from "./stats.js";

const ALARM = 0.05, FREEDOM = 128 / 3, FLOOR = 0.07, FEW = 30, TESTED = 10;

// What a normal deviate is above with the chance @p, within 0.0005 (Abramowitz and Stegun 26.2.23).
function quantile(p) {
	const t = Math.sqrt(-2 * Math.log(p));
	return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/*
 * By how many deviations of noise the shares of @a in @wholeA and @b in @wholeB differ: sampling, clumping (@effect) and
 * what differs from run to run (@run). Below 0: too few samples to be tested.
 */
export function deviations(a, wholeA, b, wholeB, effect, run) {
	const ua = wholeA.q / wholeA.w ** 2, ub = wholeB.q / wholeB.w ** 2, x = a.w / wholeA.w, y = b.w / wholeB.w;
	const n = x / ua + y / ub, p = n / (1 / ua + 1 / ub), own = p * (1 - p);
	if (!(n >= TESTED))
		return -1;
	const sigma = Math.sqrt(own * (ua + ub) * effect + 2 * run ** 2 * (own ** 2 + FLOOR ** 2));
	const step = n < FEW * effect ? (ua + ub) / 2 * effect : 0; // counts are whole
	const t = Math.max(Math.abs(y - x) - step, 0) / sigma;
	return effect > 1 ? t * (1 - 1 / (4 * FREEDOM)) / Math.sqrt(1 + t * t / (2 * FREEDOM)) : t;
}

// The least of @all deviations that is more than noise, by Holm's correction for the @tested ones.
export function judge(all) {
	const found = Float64Array.from(all).filter((z) => z >= 0).sort((x, y) => y - x), tested = found.length;
	let sure = 0;
	while (sure < tested && found[sure] > quantile(ALARM / 2 / (tested - sure)))
		sure++;
	return { least: sure ? found[sure - 1] : Infinity, tested };
}

function deviationsIn(tree, frame, a, b) {
	const noise = tree.p.meta.noise;
	return deviations(a, tree.total(0), b, tree.total(0, 1), noise?.effects[frame] ?? 1, noise?.run ?? 0.03);
}

const ofNode = (tree, node) => deviationsIn(tree, tree.frame[node], tree.total(node), tree.total(node, 1));

// What judge() says of all frames of the picture. Of callers only those that were opened are known: as many are assumed.
export function frameNoise(tree) {
	const whole = tree.from ?? tree;
	whole.noise ??= judge(whole.parent.map((_, node) => ofNode(whole, node)));
	return tree === whole ? whole.noise : { least: quantile(ALARM / 2 / Math.max(whole.noise.tested, 1)), tested: whole.noise.tested };
}

// The difference at @node, .sure if it is more than noise.
export function changeAt(tree, node) {
	const d = difference(share(tree.total(node), tree.total(0)), share(tree.total(node, 1), tree.total(0, 1)));
	return { ...d, sure: ofNode(tree, node) >= frameNoise(tree).least };
}

// The same for the table of functions, corrected for its rows: sets .change of each.
export function judgeRows(tree, rows) {
	const all = rows.map((row) => deviationsIn(tree, row.frame, row.total[0], row.total[1])), { least } = judge(all);
	rows.forEach((row, i) => {
		const d = difference(share(row.total[0], tree.total(0)), share(row.total[1], tree.total(0, 1)));
		row.change = { ...d, sure: all[i] >= least };
	});
}
