/* distribution.js - how a layer's work is spread over processes: a box for each kind of call, or a bar for each
 * process. */

import { getOf } from '../api.js';
import { h } from '../dom.js';
import { grouped, plural } from '../format.js';
import { go } from '../state.js';
import { bars } from './bars.js';
import { boxes, spread } from './boxes.js';
import { chartCard } from './chart_card.js';
import { isCompatible } from './control_bar.js';
import { equals, toggle } from './narrow.js';
import { processConditions } from './processes.js';
import { segmented } from './segmented.js';
import { recordsOf } from './table.js';

const MEASURES = [
    { key: 'time', label: 'Call time', unit: 's' },
    { key: 'busy', label: 'Wall time', unit: 's', exact: true },
    { key: 'count', label: 'Events', unit: 'count' },
    { key: 'size', label: 'Bytes', unit: 'B' },
];
const MOST = 10000,
    MOST_NAMED = 64; /* of more the bars stand upright, as a curve */

/**
 * @typedef {Object} LayerView  what the cards of a layer's page are drawn from
 * @property {Object} trace
 * @property {Object} place
 * @property {number} granularity
 * @property {Object} parameters  of layered calls
 * @property {import('./layers.js').Layer} layer
 * @property {Object} row  of the summary
 * @property {string[]} columns  of the layer's view by process
 * @property {{name: string, condition: string}[]} metrics  derived ones
 * @property {string|undefined} condition  which events are the layer's
 */

export function distributionCard() {
    const card = chartCard({
        name: 'processes',
        title: 'Over processes',
        kind: {
            option: (data) => (data.boxes ? boxes : bars).option(data),
            table: (data) => (data.boxes ? boxes : bars).table(data),
            height: (data) => (data.boxes ? 320 : (bars.height?.(data) ?? 320)),
        },
    });

    /** @param {LayerView} view */
    function update(view) {
        const { trace, place, parameters, layer, columns } = view;
        const compatible = isCompatible(place);
        const suffix = compatible ? '_sum' : '';
        const kinds = [layer.name, ...view.metrics.map(({ name }) => name)];
        const columnOf = (kind, measure) => `${kind === layer.name ? '' : `${kind}_`}${measure}${suffix}`;
        const offered = MEASURES.filter(
            ({ key, exact }) => !(exact && compatible) && columns.includes(columnOf(layer.name, key)),
        );
        const measure = offered.find(({ key }) => key === place.measure) ?? offered[0];
        const present = kinds.filter((kind) => columns.includes(columnOf(kind, measure.key)));
        const keys = compatible ? ['proc_name'] : ['host_name', 'pid'];
        const path = `traces/${trace.id}/views/layer`;
        const asked = {
            ...parameters,
            layer: layer.name,
            by: compatible ? 'proc_name' : 'process',
            columns: [...keys, ...present.map((kind) => columnOf(kind, measure.key))].join(','),
            limit: MOST,
        };
        const each = place.spread !== 'boxes',
            axis = place.axis ?? (present.length > 1 ? 'log' : 'linear');
        const of = compatible ? 'threads' : 'processes';
        card.update({
            what: `Spreading ${layer.name} over ${of}`,
            path,
            parameters: asked,
            load: (signal) => getOf(trace, path, asked, signal),
            file: `${trace.name}-${layer.name}-${of}`,
            tools: [
                h('label', { class: 'visually-hidden', for: 'measure' }, 'Measure'),
                h(
                    'select',
                    { id: 'measure', onchange: (event) => go({ measure: event.target.value }) },
                    offered.map(({ key, label }) => h('option', { value: key, selected: key === measure.key }, label)),
                ),
                segmented(
                    'Spread',
                    [
                        ['boxes', 'Boxes', 'Least, quartiles, most and mean over all'],
                        ['bars', 'Bars', 'One by one, the most first'],
                    ],
                    each ? 'bars' : 'boxes',
                    (key) => go({ spread: key }),
                ),
                !each &&
                    segmented(
                        'Axis',
                        [
                            ['linear', 'Linear'],
                            ['log', 'Log'],
                        ],
                        axis,
                        (key) => go({ axis: key }),
                    ),
            ],
            drawnOf: [each, axis, layer.name, layer.color, measure.key],
            note: (answer) => noteOf(answer, compatible ? 'thread' : 'process', of),
            draw: (answer) => {
                const rows = recordsOf(answer),
                    common = { unit: measure.unit, label: `${measure.label} of ${layer.name} over ${of}` };
                if (rows.length === 0) return null;
                if (each)
                    return {
                        ...common,
                        ...barsOf(rows, columnOf(layer.name, measure.key), layer, compatible),
                        lying: rows.length <= MOST_NAMED,
                        head: of,
                    };
                return {
                    ...common,
                    log: axis === 'log',
                    of,
                    boxes: withoutDoubles(
                        present.map((kind) => [kind, rows.map((row) => row[columnOf(kind, measure.key)])]),
                    )
                        .map(([kind, values]) => boxOf(kind, values, layer))
                        .filter(Boolean),
                };
            },
        });
    }
    return { element: card.element, update, close: card.close };
}

function noteOf({ row_count: count, data }, one, of) {
    return `${data.length < count ? `the first ${grouped(data.length)} of ` : ''}${plural(count, one, of)}`;
}

/** When all data calls are reads, or all writes, `data` repeats that kind and is left out. */
function withoutDoubles(kinds) {
    const words = kinds.map(([, values]) => JSON.stringify(values));
    return kinds.filter(([kind], at) => kind !== 'data' || words.indexOf(words[at], at + 1) < 0);
}

function boxOf(name, values, layer) {
    const present = values.filter((x) => x !== null && x !== undefined);
    return present.length > 0 && present.some((x) => x > 0) ? { name, color: layer.color, ...spread(present) } : null;
}

function barsOf(rows, column, layer, compatible) {
    const most = rows.filter((row) => row[column] !== null).sort((a, b) => b[column] - a[column]);
    const hosts = new Set(rows.map((row) => row.host_name)).size;
    return {
        names: most.map((row) =>
            compatible ? row.proc_name : hosts > 1 ? `${row.host_name} ${row.pid}` : String(row.pid),
        ),
        series: [
            { name: layer.name, color: layer.color, hatched: layer.hatched, values: most.map((row) => row[column]) },
        ],
        onPick: (index) =>
            toggle(...(compatible ? [equals('proc_name', most[index].proc_name)] : processConditions(most[index]))),
    };
}
