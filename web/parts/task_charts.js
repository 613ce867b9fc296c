/* task_charts.js - the charts of a Dask computation: its functions, their graph, and what workers did and held over
 * time. */

import { get, getOf } from '../api.js';
import { h } from '../dom.js';
import { grouped, text } from '../format.js';
import { bars } from './bars.js';
import { chartCard } from './chart_card.js';
import { functionGraph } from './function_graph.js';
import { heat } from './heat.js';
import { swatch } from './layers.js';
import { lines } from './lines.js';
import { recordsOf } from './table.js';

const COLORS = 12,
    MOST_WORKERS = 60,
    MOST_BINS = 20000;
const colorOf = (index) => `var(--layer-${(index % COLORS) + 1})`;
const nameOf = (row) => row.worker ?? row.host;
const REST = 100000;

/**
 * @typedef {{trace: Object, place: Object, granularity: number, parameters: Object}} TasksView
 */

/** A card over one table of the trace. */
function tableCard(options, table, what, more, draw, note) {
    const card = chartCard(options);
    /** @param {TasksView} view */
    function update(view) {
        const path = `traces/${view.trace.id}/dasf/${table}`,
            parameters = { ...view.parameters, ...more(view), limit: REST };
        card.update({
            what,
            path,
            parameters,
            load: (signal) => getOf(view.trace, path, parameters, signal),
            file: `${view.trace.name}-${table}`,
            draw: (answer) => draw(answer, view),
            note,
        });
    }
    return { element: card.element, update, close: card.close };
}

export function functionsCard() {
    return tableCard(
        { name: 'functions', title: 'Time by function', kind: bars },
        'function_bottleneck',
        'Adding up functions',
        () => ({}),
        (answer) => {
            const rows = recordsOf(answer),
                workers = [...new Set(rows.map(nameOf))].sort(),
                times = new Map();
            for (const row of rows) times.set(row.function, (times.get(row.function) ?? 0) + row.duration);
            const names = [...times.keys()].sort((a, b) => times.get(b) - times.get(a)).slice(0, 40);
            if (names.length === 0) return null;
            const value = new Map(rows.map((row) => [`${nameOf(row)}\n${row.function}`, row.duration]));
            const series =
                workers.length > COLORS
                    ? [{ name: 'all workers', color: colorOf(0), values: names.map((name) => times.get(name)) }]
                    : workers.map((worker, index) => ({
                          name: worker,
                          color: colorOf(index),
                          values: names.map((name) => value.get(`${worker}\n${name}`) ?? null),
                      }));
            return {
                names,
                series,
                unit: 's',
                label: 'Time by function',
                head: 'Function',
                lying: true,
                stacked: true,
            };
        },
        (answer) => noteOf('sum of the durations of its tasks, by worker', recordsOf(answer).map(nameOf)),
    );
}

export function balanceCard() {
    return tableCard(
        { name: 'balance', title: 'Results held by each worker', kind: heat, height: 160 },
        'task_balance',
        'Following what workers hold',
        () => ({}),
        (answer) => {
            const workers = answer.columns.slice(1, 1 + MOST_WORKERS),
                first = Math.round(answer.time_start ?? 0);
            if (answer.data.length === 0) return null;
            const cells = answer.data
                .flatMap((row, bin) => workers.map((_, index) => [bin, index, row[index + 1]]))
                .filter((cell) => cell[2] > 0);
            return {
                first,
                bins: answer.data.length,
                width: 1,
                rows: workers,
                cells,
                unit: 'count',
                color: 'var(--layer-6)',
                label: 'results held',
                head: 'Worker',
            };
        },
        'the last count of each second; a worker that is much darker than the others holds the most data',
    );
}

/**
 * Lines over bins of time, one for each name.
 * @param {{name: string, time: number, value: number}[]} rows
 * @param {'gap'|'zero'|'hold'} without  what a bin without a row shows: nothing, 0, or what was before
 * @param {TasksView} view  all charts show the same time, so that they can be compared
 */
function linesOf(rows, without, width, unit, label, view) {
    if (rows.length === 0) return null;
    const first = rows.reduce((least, row) => Math.min(least, row.time), Infinity),
        names = [...new Set(rows.map((row) => row.name))].sort();
    const place = (time) => Math.round((time - first) / width),
        bins = Math.min(rows.reduce((most, row) => Math.max(most, place(row.time)), 0) + 1, MOST_BINS);
    const series = names.slice(0, MOST_WORKERS).map((name, index) => ({
        name,
        layer: { name, color: colorOf(index), hatched: index >= COLORS },
        values: Array(bins).fill(without === 'zero' ? 0 : null),
    }));
    const byName = new Map(series.map((one) => [one.name, one.values]));
    for (const row of rows) {
        const values = byName.get(row.name);
        if (values && place(row.time) < bins) values[place(row.time)] = row.value;
    }
    if (without === 'hold')
        for (const { values } of series) for (let bin = 1; bin < bins; bin++) values[bin] ??= values[bin - 1];
    return {
        times: Array.from({ length: bins }, (_, bin) => first + bin * width),
        width,
        range: [Number(view.place.from ?? 0), Number(view.place.to ?? view.trace.job_time)],
        unit,
        stacked: false,
        label,
        series,
    };
}

/** Words beside a title, and what each colour is. */
function noteOf(words, names) {
    return [
        words,
        [...new Set(names)]
            .sort()
            .slice(0, COLORS)
            .map((name, index) => h('span', { class: 'key' }, swatch({ name, color: colorOf(index) }), name)),
    ];
}

export function gpuCard() {
    return tableCard(
        { name: 'gpu', title: 'GPU utilisation', kind: lines },
        'resources',
        'Averaging samples',
        ({ granularity }) => ({ granularity: Math.max(granularity, 1), filter: undefined }),
        (answer, view) =>
            linesOf(
                recordsOf(answer)
                    .filter((row) => row.gpu_utilization !== null)
                    .map((row) => ({ name: row.host, time: row.time_start, value: row.gpu_utilization / 100 })),
                'gap',
                Math.max(view.granularity, 1),
                'share',
                'GPU utilisation',
                view,
            ),
        (answer) =>
            noteOf(
                'mean of the samples of a host, which are of one GPU of it',
                recordsOf(answer)
                    .filter((row) => row.gpu_utilization !== null)
                    .map((row) => row.host),
            ),
    );
}

export function workersCard() {
    return tableCard(
        { name: 'workers', title: 'Busy workers', kind: lines },
        'parallelism',
        'Laying tasks over each other',
        ({ granularity }) => ({ granularity }),
        (answer, view) =>
            linesOf(
                recordsOf(answer).map((row) => ({
                    name: 'busy workers',
                    time: row.time_start,
                    value: row.busy / view.granularity,
                })),
                'zero',
                view.granularity,
                'number',
                'Busy workers',
                view,
            ),
        'mean number of workers that ran a task',
    );
}

/** Managed memory is of the samples themselves: any query can be made of them. */
export function memoryCard() {
    const card = chartCard({ name: 'memory', title: 'Memory of each worker', kind: lines });
    /** @param {TasksView} view */
    function update(view) {
        const { trace, parameters, granularity } = view;
        const path = `traces/${trace.id}/query`;
        const asked = {
            from: parameters.from,
            to: parameters.to,
            q: JSON.stringify({
                filter: 'cat == "memory"',
                group_by: ['args.worker', { bin: `bin(time_start, ${granularity})` }],
                aggregate: { most: 'max(args.managed)' },
                order_by: ['bin'],
                limit: REST,
            }),
        };
        card.update({
            what: 'Looking at memory',
            path,
            parameters: asked,
            load: (signal) => get(path, asked, signal),
            file: `${trace.name}-memory`,
            note: (answer) =>
                noteOf(
                    'the most that each managed in a bin, until it reports again',
                    answer.data.map(([worker]) => worker).filter(Boolean),
                ),
            draw: (answer) =>
                linesOf(
                    answer.data
                        .filter(([worker]) => worker !== null)
                        .map(([name, bin, value]) => ({ name, time: bin * granularity, value })),
                    'hold',
                    granularity,
                    'B',
                    'Managed memory',
                    view,
                ),
        });
    }
    return { element: card.element, update, close: card.close };
}

export function graphCard() {
    const card = chartCard({ name: 'graph', title: 'Functions and what they pass on', kind: functionGraph });
    /** @param {TasksView} view */
    function update({ trace, parameters }) {
        const path = `traces/${trace.id}/dasf/function_graph`,
            table = (name, signal) =>
                getOf(trace, `traces/${trace.id}/dasf/${name}`, { ...parameters, limit: REST }, signal);
        card.update({
            what: 'Drawing the graph',
            path,
            parameters,
            file: `${trace.name}-functions`,
            load: (signal) =>
                Promise.all([
                    table('function_graph', signal),
                    table('function_bottleneck', signal),
                    table('critical_path', signal),
                ]),
            draw: ([edges, functions, path]) =>
                graphOf(recordsOf(edges), recordsOf(functions), new Set(recordsOf(path).map((step) => step.name))),
            note: ([edges]) =>
                `${grouped(edges.data.reduce((sum, row) => sum + row[2], 0))} edges between tasks; framed: on the longest chain`,
        });
    }
    return { element: card.element, update, close: card.close };
}

function graphOf(edges, rows, critical) {
    const functions = new Map();
    for (const row of rows) {
        const one = functions.get(row.function) ?? { name: row.function, duration: 0, tasks: 0 };
        functions.set(row.function, { ...one, duration: one.duration + row.duration, tasks: one.tasks + row.tasks });
    }
    if (functions.size === 0) return null;
    return {
        label: 'Functions and what they pass on',
        nodes: [...functions.values()].map((one) => ({ ...one, critical: critical.has(one.name) })),
        edges,
        words: (node) => `${grouped(node.tasks)} tasks, ${text(node.duration, 's')}`,
    };
}
