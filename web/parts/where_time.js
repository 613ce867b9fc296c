/* where_time.js - the card that shows where the time went, whatever preset the trace has.
 *
 * DESIGN.  With a compute layer the summary holds the result (breakdown.js).  Where it does not, each moment of each
 * unit is given to one of the sets that were active then: the parts then add up to the whole.  Of several sets it is
 * the one that was active least in all, which among calls inside each other is the innermost. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { plural, text } from '../format.js';
import { breakdown, breakdownView } from './breakdown.js';
import { parametersOf } from './control_bar.js';
import { copyMenu } from './copy.js';
import { conditionOf, isPresent, pathTo } from './layers.js';
import { empty, loading } from './notice.js';

const MOST_SETS = 12;

/* metrics.md section 1: what the calls of a preset that has but one layer do. */
const CALLS = [
    ['reading', 'io_cat == 1', 6],
    ['writing', 'io_cat == 2', 2],
    ['metadata', 'io_cat == 3', 7],
    ['sync', 'io_cat == 7', 3],
    ['other', 'not io_cat in [1, 2, 3, 7]', 4],
];

/**
 * @typedef {{trace: Object, place: Object, rows: Object[], tree: import('./layers.js').Layer[], preset: Object,
 *   span: number}} WhereView  rows: the summary's layers; span: seconds that are asked about
 *
 * @typedef {Object} Partition
 * @property {'rank_group'|'process'} scope
 * @property {string|null} of  the layer whose time is distinguished; null: the spans of the units
 * @property {{name: string, set?: string, layer: import('./layers.js').Layer}[]} sets  set: its condition, where it
 *   is no layer
 * @property {(active: string[], least: (names: string[]) => string) => {name: string|null, kind:
 *   import('./breakdown.js').Part['kind']}|null} owner  of a moment
 */

export function whereCard() {
    const note = h('small', {}),
        tools = h('div', { class: 'card-tools' }),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Where the time went' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Where the time went'), note, tools),
        box,
    );
    let work = null,
        asked = null;

    /** @param {WhereView} view */
    function update(view) {
        const { trace, place, rows, tree, preset, span } = view;
        const known = breakdown(rows, tree, preset.overlap_with, span);
        const partition = known ? ofRanks(known, tree, preset) : ofProcesses(view);
        const exact = known !== null && known.below.length === 0;
        element.hidden = !exact && partition.sets.length === 0;
        const { preset: name, filters, filter, from, to } = parametersOf({ ...place, semantics: 'exact' });
        const path = `traces/${trace.id}/${exact ? 'summary' : 'overlap'}`;
        /** @type {Object} */
        const parameters = {
            preset: name ?? preset.name,
            filters,
            filter,
            from,
            to,
            ...(!exact && { scope: partition.scope, ...setsOf(partition) }),
        };
        const request = JSON.stringify([path, parameters]);
        if (request === asked) return;
        asked = request;
        work?.abort();
        fill(tools, copyMenu(path, parameters, `${trace.name}-where`));
        if (exact) {
            box.classList.remove('outdated');
            show({ ...known, of: known.root, many: '' });
            return;
        }
        if (element.hidden) return;
        work = loading(box, {
            what: 'Telling apart what every process did',
            path,
            height: 120,
            load: (signal) => getOf(trace, path, parameters, signal),
            show: (answer) => show(partsOf(answer, partition)),
            retry: () => {
                asked = null;
                update(view);
            },
        });
    }

    function show(answer) {
        fill(
            note,
            answer.of
                ? `${text(answer.whole, 's')} of ${answer.of}, summed over ranks`
                : `${text(answer.whole, 's')}, the spans of ${answer.many} added up`,
        );
        fill(box, answer.whole > 0 ? breakdownView(answer) : empty('No event here took any time'));
    }

    return { element, update, close: () => work?.abort() };
}

/** @param {Partition} partition */
function setsOf({ sets }) {
    return sets.some(({ set }) => set)
        ? { set: sets.map(({ name, set }) => `${name}:${set}`) }
        : { layers: sets.map(({ name }) => name) };
}

/**
 * Ranks: compute first, then what lies beside it or below layers that have no events, else the layers around it.
 * @returns {Partition}
 */
function ofRanks({ root, parts, below }, tree, preset) {
    const path = pathTo(preset.overlap_with, new Map(tree.map((layer) => [layer.name, layer.parent])));
    const named = new Set([...path, ...[...parts, ...below].map(({ layer }) => layer.name)]);
    /** @type {Partition['owner']} */
    const owner = (active, least) => {
        if (!active.includes(root)) return null;
        if (active.includes(preset.overlap_with)) return { name: preset.overlap_with, kind: 'busy' };
        const beside = active.filter((name) => !path.includes(name));
        return beside.length > 0
            ? { name: least(beside), kind: 'exposed' }
            : { name: path.findLast((name) => active.includes(name)), kind: 'self' };
    };
    return {
        scope: 'rank_group',
        of: root,
        sets: tree.filter(({ name }) => named.has(name)).map((layer) => ({ name: layer.name, layer })),
        owner,
    };
}

/**
 * Processes: all layers; of a single one what its calls do.
 * @returns {Partition}
 */
function ofProcesses({ trace, rows, tree, preset }) {
    const workers = trace.kind === 'dasf'; /* each process is one, and has nothing to do but tasks */
    const byName = new Map(rows.map((row) => [row.name, row])),
        present = tree.filter(({ name }) => isPresent(byName.get(name)));
    const [only] = present,
        condition = only && conditionOf(preset, only.name);
    /** @type {Partition['owner']} */
    const owner = (active, least) =>
        active.length > 0 ? { name: least(active), kind: 'inner' } : { name: null, kind: workers ? 'idle' : 'none' };
    const many = [...present]
        .sort((a, b) => byName.get(b.name).busy_process_sum - byName.get(a.name).busy_process_sum)
        .slice(0, MOST_SETS);
    const sets =
        present.length === 1 && condition && only.hatched
            ? CALLS.map(([name, kind, hue]) => ({
                  name,
                  set: `(${condition}) and ${kind}`,
                  layer: /** @type {any} */ ({ name, color: `var(--layer-${hue})`, hatched: false }),
              }))
            : tree.filter((layer) => many.includes(layer)).map((layer) => ({ name: layer.name, layer }));
    return { scope: 'process', of: null, sets, owner };
}

const NONE = { name: 'no event', color: 'var(--line)', hatched: false },
    IDLE = { ...NONE, name: 'idle' };

/**
 * @param {Object} answer
 * @param {Partition} partition
 */
function partsOf({ groups, sets, span, idle, scope_count: count }, partition) {
    const busy = new Map(sets.map((set) => [set.name, set.busy])),
        seconds = new Map();
    const least = (names) => names.reduce((a, b) => (busy.get(b) < busy.get(a) ? b : a));
    for (const { sets: active, time } of [...groups, { sets: [], time: idle }]) {
        const owner = partition.owner(active, least);
        if (!owner || time <= 0) continue;
        const part = seconds.get(owner.name) ?? {
            kind: owner.kind,
            layer:
                partition.sets.find(({ name }) => name === owner.name)?.layer ?? (owner.kind === 'idle' ? IDLE : NONE),
            seconds: 0,
        };
        part.seconds += time;
        seconds.set(owner.name, part);
    }
    const parts = [...seconds.values()].sort((a, b) => b.seconds - a.seconds);
    return {
        parts,
        whole: partition.of ? parts.reduce((sum, part) => sum + part.seconds, 0) : span,
        of: partition.of,
        many: plural(count, 'process', 'processes'),
    };
}
