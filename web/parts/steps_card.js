/* steps_card.js - the five steps of a training that took longest, and what part of them was no compute; leading on to
 * all of them. */

import { getOf, postOf } from '../api.js';
import { fill, h } from '../dom.js';
import { plural } from '../format.js';
import { pageLink } from '../state.js';
import { latestRequest } from './latest_request.js';
import { stallRequest } from './causes.js';
import { recordsOf, scrolling, table } from './table.js';

const MOST = 5;

export function stepsCard() {
    const note = h('small', {}),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Slowest steps' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Slowest steps'), note),
        box,
    );
    const reading = latestRequest(box);
    element.hidden = true;

    /** @param {{trace: any, place: Object}} view */
    function update({ trace, place }) {
        const request = stallRequest(place, trace);
        reading.send({
            request: [trace.answers, request],
            what: 'Cutting the training into steps',
            path: `traces/${trace.id}/overlap`,
            height: 200,
            load: (signal) => ask(trace, request, signal),
            show: draw,
        });
    }

    /** Null of presets that know no steps. */
    async function ask(trace, request, signal) {
        const { phases } = await getOf(trace, `presets/${request.preset}`, {}, signal);
        if (!phases?.step || !phases.training) return null;
        const sets = { training: phases.training, compute: phases.compute ?? phases.step },
            attribution = { target: 'training', causes: ['compute'], by: ['epoch', 'step'], longest: 0 };
        return postOf(trace, `traces/${trace.id}/overlap`, { ...request, sets, attribution }, signal);
    }

    function draw(answer) {
        const { units, rows } = answer?.attribution ?? { units: 0, rows: { columns: [], data: [] } };
        const steps = recordsOf(rows).filter(({ step }) => step !== null);
        element.hidden = steps.length === 0;
        const slowest = steps.sort((a, b) => b.target - a.target).slice(0, MOST);
        fill(note, `by time, mean of ${plural(units, 'rank')}, of ${plural(steps.length, 'step')}`);
        const name = ({ epoch, step }) => h('a', { href: pageLink('steps', {}) }, `epoch ${epoch}, step ${step}`);
        fill(
            box,
            scrolling(
                'Slowest steps',
                table({
                    caption: 'Slowest steps',
                    rows: slowest,
                    columns: [
                        { key: 'step', label: 'Step', class: 'head', cell: name },
                        { key: 'target', label: 'Time', unit: 's', get: (row) => row.target / units },
                        { key: 'compute', label: 'Compute', unit: 's', get: (row) => row.compute / units },
                        {
                            key: 'rest',
                            label: 'Not compute',
                            unit: 'share',
                            get: (row) => 1 - row.compute / row.target,
                        },
                    ],
                }),
            ),
        );
    }
    return { element, update, close: reading.close };
}
