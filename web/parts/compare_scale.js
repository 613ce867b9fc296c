/* compare_scale.js - runs of different size beside each other: their sums for each rank, step or sample.
 *
 * A run of eight ranks computes eight times as long in all; that is neither worse nor better.  What adds up over ranks
 * and steps is divided; what is a span of time, a share or a bandwidth of one call is left as it is. */

import { isPresent } from './layers.js';

/**
 * @typedef {Object} Scale
 * @property {string} per  key of what numbers are for: job, rank, step or sample
 * @property {[key: string, words: string][]} offered
 * @property {(at: number, metric: string, value: number|null|undefined) => number|null} of  the number of a run, by
 *   its
 *   place in the list of runs
 */

const WORDS = { job: 'whole job', rank: 'per rank', step: 'per step', sample: 'per sample' };
const SUMS = new Set(['time', 'exposed_group_sum', 'size', 'count', 'calls', 'bytes', 'events']);

/**
 * @param {{summary: Object}[]} answers  of each run, the baseline first
 * @param {Object} preset
 * @param {string|undefined} wanted
 * @returns {Scale}
 */
export function scaleOf(answers, preset, wanted) {
    const counts = answers.map(({ summary }) => countsOf(summary, preset.overlap_with));
    const known = ['rank', 'step', 'sample'].filter((key) => counts.every((one) => one[key] > 0));
    const unlike = counts.some(({ rank }) => rank !== counts[0].rank);
    const per =
        wanted && ['job', ...known].includes(wanted) ? wanted : unlike && known.includes('rank') ? 'rank' : 'job';
    return {
        per,
        offered: ['job', ...known].map((key) => [key, WORDS[key]]),
        of: (at, metric, value) => {
            if (value === null || value === undefined) return null;
            if (per === 'job') return value;
            if (metric === 'bw_busy') return per === 'rank' ? value / counts[at].rank : value;
            if (metric === 'busy') return per === 'rank' ? value : value / (counts[at][per] / counts[at].rank);
            return SUMS.has(metric) ? value / counts[at][per] : value;
        },
    };
}

/** Ranks, their steps and samples in all. */
function countsOf(summary, compute) {
    const present = summary.layers.filter(isPresent);
    const computing = present.find(({ name }) => name === compute);
    return {
        rank: computing?.processes ?? summary.processes,
        step: computing?.count ?? 0,
        sample: Math.max(0, ...present.map((layer) => layer.item_count ?? layer.sample_count ?? 0)),
    };
}
