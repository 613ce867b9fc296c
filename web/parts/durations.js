/* durations.js - how long a layer's calls take: a histogram whose bins grow by factors of two, by a query. */

import { getOf } from '../api.js';
import { grouped, text, tick } from '../format.js';
import { columnOf } from './table.js';

/**
 * What the card of calls shows of durations.
 * @param {import('./distribution.js').LayerView} view
 * @param {boolean} log
 */
export function durationsOf({ trace, place, layer, condition }, log) {
    const path = `traces/${trace.id}/query`,
        filter = [condition, place.filter]
            .filter(Boolean)
            .map((one) => `(${one})`)
            .join(' and ');
    const parameters = {
        preset: place.preset ?? trace.preset.name,
        filters: place.filters,
        from: place.from,
        to: place.to,
        q: JSON.stringify({
            ...(filter && { filter }),
            group_by: [{ power: 'where(dur > 0, floor(log2(dur)), -1)' }],
            aggregate: { calls: 'count()' },
            limit: 100,
        }),
    };
    return {
        what: `Counting the calls of ${layer.name} by duration`,
        path,
        parameters,
        load: (signal) => getOf(trace, path, parameters, signal),
        file: `${trace.name}-${layer.name}-durations`,
        note: (answer) => instantsIn(answer),
        draw: (answer) => histogram(answer, layer, log),
    };
}

/** Calls too short to be measured have no bin on such an axis. */
function instantsIn(answer) {
    const [, none] = answer.data.find(([power]) => power === -1) ?? [];
    return none ? `by duration; ${grouped(none)} took less than 1\u202f\u00b5s` : 'by duration';
}

function histogram(answer, layer, log) {
    const powers = columnOf(answer, 'power').filter((power) => power >= 0);
    if (powers.length === 0) return null;
    const first = Math.min(...powers),
        bins = Array.from({ length: Math.max(...powers) - first + 1 }, (_, index) => first + index);
    const calls = new Map(answer.data),
        from = (power) => text(2 ** power / 1e6, 's');
    return {
        names: bins.map((power) => `${from(power)} \u2013 ${from(power + 1)}`),
        ticks: bins.map((power) => tick(2 ** power / 1e6, 's').replace('\u202f', '\n')),
        unit: 'count',
        log,
        head: 'Duration',
        label: `Calls of ${layer.name} by duration`,
        series: [
            { name: 'calls', color: layer.color, hatched: false, values: bins.map((power) => calls.get(power) ?? 0) },
        ],
    };
}
