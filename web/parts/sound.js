/* sound.js - an address that somebody typed or shortened: what of it cannot be meant is left out, and said. */

const SIGNS = 'expected a number of seconds';

/**
 * @param {Object} place
 * @param {number} end  of the job, in seconds
 * @param {number} mostBins  of the range that can be shown
 * @returns {{place: Object, corrections: string[]}}  a place that can be asked for, and a sentence for each change
 */
export function soundPlace(place, end, mostBins) {
    const sound = { ...place },
        corrections = [];
    const drop = (keys, words) => {
        for (const key of keys) delete sound[key];
        corrections.push(words);
    };
    for (const key of ['from', 'to', 'granularity'])
        if (sound[key] !== undefined && !Number.isFinite(Number(sound[key] || NaN)))
            drop([key], `${key}=${place[key]} in the address is left out: ${SIGNS}.`);
    const from = Number(sound.from ?? 0),
        to = Number(sound.to ?? end);
    if (from >= end && sound.from !== undefined)
        drop(
            ['from', 'to'],
            `The job ends after ${end} s, before the range in the address begins (${from} s): the whole job is shown.`,
        );
    else if ((sound.from ?? sound.to) !== undefined && to <= from)
        drop(['from', 'to'], `The range in the address ends before it begins: the whole job is shown.`);
    if (
        sound.granularity !== undefined &&
        Number(sound.granularity) < ((sound.to ?? end) - (sound.from ?? 0)) / mostBins
    )
        drop(
            ['granularity'],
            `Bins of ${place.granularity} s would be too many to show: the width is chosen by the range.`,
        );
    return { place: sound, corrections };
}
