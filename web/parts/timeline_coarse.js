/* timeline_coarse.js - when something ran, layer by layer: what stands where the timeline will, until its lanes are
 * laid
 * out.
 *
 * It comes of the base that time series are kept as, which is there long before the lanes of a large new trace are. */

import { getOf } from '../api.js';
import { fill, h, setStyle } from '../dom.js';
import { text } from '../format.js';
import { layerTree } from './layers.js';
import { recordsOf } from './table.js';

const WAIT_MS = 200 /* lanes that are laid out come sooner */,
    STEPS = 240;

/** @param {Object} trace */
export function coarsePicture(trace) {
    const element = h('section', { class: 'card tl-coarse', 'aria-label': 'Coarse picture', hidden: true });
    let timer = 0,
        work = null;

    /** Shows it unless it is hidden soon, since something better is there. */
    function announce(preset) {
        hide();
        timer = setTimeout(() => ask(preset), WAIT_MS);
    }

    async function ask(preset) {
        work = new AbortController();
        const { signal } = work,
            parameters = { preset, metrics: 'busy', granularity: trace.job_time / STEPS, max_points: 20000 };
        try {
            const [series, described] = await Promise.all([
                getOf(trace, `traces/${trace.id}/timeseries`, parameters, signal),
                getOf(trace, `presets/${preset}`, {}, signal),
            ]);
            if (!signal.aborted) draw(series, described);
        } catch {
            /* the lanes will say what is wrong */
        }
    }

    function draw(series, preset) {
        const rows = recordsOf(series),
            names = series.columns.filter((name) => name.endsWith('_busy')).map((name) => name.slice(0, -5));
        const busy = (name) => rows.map((row) => Math.min(1, (row[`${name}_busy`] ?? 0) / series.granularity));
        const present = layerTree(
            names.map((name) => ({ name })),
            preset,
        )
            .map((layer) => ({ layer, shares: busy(layer.name) }))
            .filter(({ shares }) => shares.some((share) => share > 0));
        if (present.length === 0) return;
        fill(
            element,
            h(
                'p',
                { role: 'status' },
                `When each layer ran, in steps of ${text(series.granularity, 's')}. Its calls follow: the lanes are being laid out.`,
            ),
            present.map(({ layer, shares }) => {
                const bar = h('span', {
                    class: 'tl-coarse-bar',
                    role: 'img',
                    'aria-label': `${layer.label} over time`,
                });
                setStyle(bar, { 'background-color': layer.color, 'mask-image': maskOf(shares) });
                return h('div', { class: 'tl-coarse-row' }, h('span', {}, layer.label), bar);
            }),
        );
        element.hidden = false;
    }

    function hide() {
        clearTimeout(timer);
        work?.abort();
        element.hidden = true;
        fill(element);
    }

    return { element, announce, hide };
}

/** Cells, each as opaque as the part of it in which something ran; none is invisible in which anything did. */
function maskOf(shares) {
    const stops = shares.map((share, at) => {
        const alpha = share > 0 ? 0.15 + 0.85 * share : 0;
        return `rgb(0 0 0 / ${alpha.toFixed(2)}) ${((at / shares.length) * 100).toFixed(3)}% ${(((at + 1) / shares.length) * 100).toFixed(3)}%`;
    });
    return `linear-gradient(to right, ${stops.join(', ')})`;
}
