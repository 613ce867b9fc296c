/* heat_card.js - when which process was in a layer: a heat map of call time, by a query. */

import { getOf } from '../api.js';
import { grouped, text } from '../format.js';
import { chartCard } from './chart_card.js';
import { heat } from './heat.js';
import { laneOf, timelineLink } from './timeline_links.js';

const MOST_CELLS = 100000,
    MOST_ROWS = 500,
    MOST_BINS = 1000;

export function heatCard() {
    const card = chartCard({ name: 'heat', title: 'Processes over time', kind: heat, height: 160 });

    /** @param {import('./distribution.js').LayerView} view */
    function update(view) {
        const { trace, place, layer } = view;
        const from = Number(place.from ?? 0),
            to = Number(place.to ?? trace.job_time);
        const granularity = view.granularity * Math.ceil((to - from) / view.granularity / MOST_BINS);
        const filter = [view.condition, place.filter]
            .filter(Boolean)
            .map((one) => `(${one})`)
            .join(' and ');
        const path = `traces/${trace.id}/query`;
        const asked = {
            preset: place.preset ?? trace.preset.name,
            filters: place.filters,
            from: place.from,
            to: place.to,
            q: JSON.stringify({
                ...(filter && { filter }),
                group_by: ['host_name', 'pid', { bin: `bin(time_start, ${granularity})` }],
                aggregate: { time: 'sum(time)' },
                limit: MOST_CELLS,
            }),
        };
        card.update({
            what: `Summing up the calls of ${layer.name} by process and time`,
            path,
            parameters: asked,
            load: (signal) => getOf(trace, path, asked, signal),
            file: `${trace.name}-${layer.name}-heat`,
            note: (answer) =>
                answer.row_count > answer.data.length
                    ? `the first ${grouped(answer.data.length)} of ${grouped(answer.row_count)} cells`
                    : `time of the calls that begin in each bin of ${text(granularity, 's')}; drag to choose a time range, click to see it on the timeline`,
            draw: (answer) => heatOf(answer.data, granularity, layer, from, to),
        });
    }
    return { element: card.element, update, close: card.close };
}

/**
 * @param {[host: string|null, pid: number, bin: number, time: number][]} data
 * @param {number} granularity
 * @param {import('./layers.js').Layer} layer
 * @param {number} from
 * @param {number} to  the seconds that are shown
 */
function heatOf(data, granularity, layer, from, to) {
    if (data.length === 0) return null;
    const hosts = new Set(data.map(([host]) => host)).size;
    const names = new Map(),
        lanes = [];
    const first = data.reduce((least, [, , bin]) => Math.min(least, bin), Math.floor(from / granularity)),
        last = data.reduce((most, [, , bin]) => Math.max(most, bin), Math.ceil(to / granularity) - 1);
    const cells = [];
    for (const [host, pid, bin, time] of data) {
        const name = hosts > 1 ? `${host ?? 'no host'} ${pid}` : String(pid);
        if (!names.has(name)) {
            names.set(name, names.size);
            lanes.push(laneOf('process', { host_name: host, pid }));
        }
        if (names.get(name) < MOST_ROWS) cells.push([bin - first, names.get(name), time]);
    }
    return {
        first,
        bins: last - first + 1,
        width: granularity,
        rows: [...names.keys()].slice(0, MOST_ROWS),
        cells,
        unit: 's',
        color: layer.color,
        label: `time in ${layer.name}`,
        head: 'Process',
        address: ([bin, row]) =>
            lanes[row]
                ? timelineLink({
                      from: (first + bin) * granularity,
                      to: (first + bin + 1) * granularity,
                      lane: lanes[row],
                  })
                : null,
    };
}
