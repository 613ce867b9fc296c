/* heat_card.js - when which process was in a layer: a heat map of call time, by a query. */

import { getOf } from '../api.js';
import { grouped, text } from '../format.js';
import { chartCard } from './chart_card.js';
import { heat } from './heat.js';
import { anyOf, narrowed } from './narrow.js';
import { groupWords, rowGroups } from './row_groups.js';
import { here, link } from '../state.js';
import { laneOf, timelineLink } from './timeline_links.js';

const MOST_CELLS = 100000,
    MOST_ROWS = 240,
    LEAST_BINS = 40,
    MOST_BINS = 1000;
const COMPARE = new Intl.Collator(undefined, { numeric: true }).compare;

export function heatCard() {
    const card = chartCard({ name: 'heat', title: 'Processes over time', kind: heat, height: 160 });

    /** @param {import('./distribution.js').LayerView} view */
    function update(view) {
        const { trace, place, layer } = view;
        const from = Number(place.from ?? 0),
            to = Number(place.to ?? trace.job_time);
        const bins = Math.min(MOST_BINS, Math.max(LEAST_BINS, Math.floor(MOST_CELLS / Math.max(1, trace.processes))));
        const granularity = view.granularity * Math.max(1, Math.ceil((to - from) / view.granularity / bins));
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
            drawnOf: [granularity, layer.name, layer.color, from, to],
            note: (answer) => noteOf(answer, granularity),
            draw: (answer) => heatOf(answer.data, granularity, layer, from, to),
        });
    }
    return { element: card.element, update, close: card.close };
}

/** What is shown, of how many processes, and what a click does. */
function noteOf(answer, granularity) {
    const count = processesOf(answer.data).list.length,
        { per } = rowGroups(Array.from({ length: count }, String), MOST_ROWS);
    const part =
        answer.row_count > answer.data.length
            ? `, the first ${grouped(answer.data.length)} of ${grouped(answer.row_count)} cells`
            : '';
    const click = per === 1 ? 'click to see it on the timeline' : 'click to show the processes of a row';
    return `${groupWords(count, per, 'processes')}${part}, by bins of ${text(granularity, 's')}; drag to choose a time range, ${click}`;
}

/**
 * Every process has its place: where they are more than rows, neighbours share one, which shows their mean.
 * @param {[host: string|null, pid: number, bin: number, time: number][]} data
 * @param {number} granularity
 * @param {import('./layers.js').Layer} layer
 * @param {number} from
 * @param {number} to  the seconds that are shown
 */
function heatOf(data, granularity, layer, from, to) {
    if (data.length === 0) return null;
    const first = data.reduce((least, [, , bin]) => Math.min(least, bin), Math.floor(from / granularity)),
        last = data.reduce((most, [, , bin]) => Math.max(most, bin), Math.ceil(to / granularity) - 1);
    const bins = last - first + 1,
        processes = processesOf(data);
    const groups = rowGroups(
        processes.list.map(({ name }) => name),
        MOST_ROWS,
    );
    const sums = new Map();
    for (const [host, pid, bin, time] of data) {
        const place = groups.rowOf(processes.at(host, pid) ?? 0) * bins + bin - first;
        sums.set(place, (sums.get(place) ?? 0) + time);
    }
    const membersOf = (row) => groups.members(row).map((index) => processes.list[index]);
    return {
        first,
        bins,
        width: granularity,
        rows: groups.rows,
        cells: [...sums].map(([place, time]) => {
            const row = Math.floor(place / bins);
            return [place % bins, row, time / groups.members(row).length];
        }),
        unit: 's',
        color: layer.color,
        label: groups.per === 1 ? `time in ${layer.name}` : `mean time of a process in ${layer.name}`,
        head: groups.per === 1 ? 'Process' : 'Processes',
        address: ([bin, row]) => {
            if (!groups.rows[row]) return null;
            const seconds = { from: (first + bin) * granularity, to: (first + bin + 1) * granularity };
            const members = membersOf(row);
            return members.length === 1
                ? timelineLink({ ...seconds, lane: laneOf('process', members[0]) })
                : link({ filter: narrowed(here().filter ?? '', anyOf(members)) });
        },
    };
}

/** The processes of a response in the order of hosts and their numbers. */
function processesOf(data) {
    const found = new Map();
    for (const [host, pid] of data) found.set(`${host} ${pid}`, { host_name: host, pid });
    const hosts = new Set(data.map(([host]) => host)).size;
    const list = [...found.values()]
        .sort((a, b) => COMPARE(a.host_name ?? '', b.host_name ?? '') || a.pid - b.pid)
        .map((one) => ({ ...one, name: hosts > 1 ? `${one.host_name ?? 'no host'} ${one.pid}` : String(one.pid) }));
    const places = new Map(list.map((one, index) => [`${one.host_name} ${one.pid}`, index]));
    return { list, at: (host, pid) => places.get(`${host} ${pid}`) };
}
