/* whatif_lanes.js - an epoch of one rank: traced and simulated, under each other. */

import { getOf } from '../api.js';
import { h } from '../dom.js';
import { go } from '../state.js';
import { chartCard } from './chart_card.js';
import { field } from './control_bar.js';
import { lanes } from './lanes.js';
import { recordsOf } from './table.js';

const NAME = 'scenario';
const MOST_STEPS = 20000; /* of all ranks: the details of more would take long to fetch */

/** Not over the job's time: each epoch begins at zero. */
const kind = { option: lanes.option, table: lanes.table, tip: lanes.tip, height: lanes.height };

export function epochLanes(trace) {
    const card = chartCard({ name: 'epoch', title: 'One epoch, traced and simulated', kind });

    function update(place, scenario, { model, ranks }) {
        const few = model.steps <= MOST_STEPS;
        card.element.hidden = !few;
        if (!few) return;
        const known = recordsOf(ranks).filter((row) => row.scenario === 'baseline');
        const rank = Math.min(Number(place.rank) || 0, model.ranks - 1), epoch = Math.min(Math.max(Number(place.epoch) || 1, 1), model.epochs);
        const path = `traces/${trace.id}/whatif`;
        const parameters = { q: JSON.stringify({ scenarios: [{ name: NAME, ...scenario }], detail: ['steps'], timeline: { scenario: NAME, rank, epoch } }) };
        const pick = (label, key, count, chosen, words) => field(label, h('select', { id: `if-${key}`, onchange: (event) => go({ [key]: event.target.value }) }, Array.from({ length: count }, (_, at) => h('option', { value: words(at)[0], selected: words(at)[0] === chosen }, words(at)[1]))));
        card.update({
            what: 'Simulating an epoch', path, parameters, load: (signal) => getOf(trace, path, parameters, signal), file: `${trace.name}-epoch`, exported: { path, parameters: { ...parameters, table: 'timeline' } },
            tools: [pick('Rank', 'rank', model.ranks, rank, (at) => [at, known[at]?.pid ?? at]), pick('Epoch', 'epoch', model.epochs, epoch, (at) => [at + 1, at + 1])],
            draw: (answer) => draw(answer, known[rank], epoch),
        });
    }

    return { element: card.element, update, close: () => card.close() };
}

function draw({ steps, timeline }, rank, epoch) {
    const traced = recordsOf(steps).filter((row) => row.scenario === 'traced' && row.pid === rank.pid && row.host_name === rank.host_name && row.epoch === epoch);
    const spans = recordsOf(timeline);
    if (traced.length === 0 || spans.length === 0) return null;
    const began = traced[0].asked, simulated = Math.min(...spans.filter((row) => row.kind === 'wait').map((row) => row.start));
    const workers = [...new Set(spans.filter((row) => row.kind === 'batch').map((row) => row.lane))];
    const names = ['traced: waits', 'traced: computes', 'simulated: waits', 'simulated: computes', ...workers];
    const intervals = [
        ...traced.flatMap((row) => [[row.asked - began, row.got - began, 0], [row.compute_start - began, row.compute_end - began, 1]]),
        ...spans.filter((row) => row.kind !== 'barrier').map((row) => [row.start - simulated, row.end - simulated, row.kind === 'wait' ? 2 : row.kind === 'compute' ? 3 : 4 + workers.indexOf(row.lane)]),
    ];
    return { label: `Epoch ${epoch} of the rank ${rank.pid}, traced and simulated`, first: Math.min(0, ...intervals.map(([from]) => from)), last: Math.max(...intervals.map(([, to]) => to)), lanes: names, intervals, color: 'var(--layer-5)' };
}
