/* stall_card.js - what the ranks waited for, cause by cause, in a card that opens Overlap. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { plural, value } from '../format.js';
import { pageLink } from '../state.js';
import { barOf, paletteOf, sentence, stallRequest } from './causes.js';
import { swatch } from './layers.js';
import { loading } from './notice.js';

/** Of a preset without a chain, and of a trace without such time, it keeps no place. */
export function stallCard() {
    const title = h('h2', {}),
        note = h('small', {}),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Causes of the stall', hidden: true },
        h('header', { class: 'card-head' }, title, note),
        box,
    );
    let work = null,
        asked = null;

    function update({ trace, place, preset }) {
        const chain = preset.attribution.find(({ name }) => name === 'stall') ?? preset.attribution[0];
        element.hidden = chain === undefined;
        const parameters = { ...stallRequest(place, trace), attribution: chain?.name, by: 'unit' },
            request = JSON.stringify(parameters),
            path = `traces/${trace.id}/overlap`;
        if (element.hidden || request === asked) return;
        asked = request;
        work?.abort();
        fill(title, chain.label); /* at once: the head keeps its height when the answer comes */
        work = loading(box, {
            what: 'Giving each moment to a cause',
            path,
            height: 136,
            load: (signal) => getOf(trace, path, parameters, signal),
            show: ({ attribution }) => draw(attribution, chain),
            retry: () => {
                asked = null;
                update({ trace, place, preset });
            },
        });
    }

    function draw(attribution, chain) {
        const known = paletteOf(
            chain,
            attribution.causes.map(({ name }) => name),
        );
        element.hidden = attribution.time === 0;
        fill(note, `${attribution.target}, in ${plural(attribution.units, 'rank')}`);
        fill(
            box,
            h(
                'div',
                { class: 'breakdown' },
                sentence(attribution, known),
                h(
                    'a',
                    {
                        href: pageLink('overlap', { attribution: chain.name }),
                        'aria-label': 'Causes of the stall in Overlap',
                    },
                    barOf(attribution, known),
                ),
                h(
                    'ul',
                    { class: 'breakdown-legend' },
                    attribution.causes.map(
                        (cause, at) =>
                            cause.time > 0 &&
                            h(
                                'li',
                                {},
                                swatch(known[at]),
                                known[at].label,
                                h('strong', {}, value(cause.share, 'share')),
                                h('span', { class: 'kind' }, value(cause.time, 's')),
                            ),
                    ),
                ),
            ),
        );
    }

    return { element, update, close: () => work?.abort() };
}
