/* plot.js - a chart in a box, by ECharts; its numbers as a table for whoever prefers or needs one.
 *
 * What is drawn is a kind: lines, bars, boxes, a heat map, a histogram, slopes.  Where data says the `address` of a
 * place, a click goes there.  ECharts is loaded when the first chart is shown.  Tooltips are elements, not HTML text,
 * and all styles go through the object model: the Content-Security-Policy forbids the rest.  Charts over the job's
 * time share their hover line, and a drag over one sets the page's time range. */

import { fill, h } from '../dom.js';
import { brushOption } from './axes.js';
import { isDark, onTheme, resolved } from './palette.js';
import { visit } from '../state.js';
import { onHover, showRange, showRoundRange, tellHover } from './time.js';

/**
 * @typedef {Object} Kind
 * @property {(data: any) => Object} option  of ECharts
 * @property {(data: any) => HTMLElement} table  the same numbers
 * @property {(data: any) => number} [height]  in pixels; the stylesheet's when left out
 * @property {(data: any, at: number[]) => HTMLElement|null} [tip]  what is at a place of the axes; where ECharts'
 *   own tooltip would draw everything anew
 * @property {(data: any, x: number) => number} [timeAt]  seconds at a place of the x axis: the chart is over the
 *   job's time
 * @property {(data: any, time: number) => number} [placeOf]  the reverse
 * @property {boolean} [binned]  places are bins, counted from 0
 */

let library = null;
function loadLibrary() {
    library ??= import('../vendor/echarts.js');
    return library;
}

const MARGIN = 100 /* px below the window that count as seen */,
    TASK_MS = 16; /* so long charts are drawn in one task, before a click is heard */

const acts = new Map() /* by box: how its chart is drawn, until the browser has said whether it is in the window */,
    ready = /** @type {(() => void)[]} */ ([]),
    later = /** @type {(() => void)[]} */ ([]); /* below the window */
let idle = false;

const sight = new IntersectionObserver(
    (all) => {
        for (const { target, isIntersecting } of all) {
            sight.unobserve(target);
            const act = acts.get(target);
            if (act) (isIntersecting ? ready : later).push(act);
            acts.delete(target);
        }
        drawReady();
    },
    { rootMargin: `1000000px 0px ${MARGIN}px 0px` } /* above counts as seen */,
);

/**
 * Figures and tables are on screen before the first chart is drawn: the browser says where a chart is after it has
 * painted them, and need not lay out the page to know it.  Charts below the window come last, each while nothing
 * else is to do.
 */
function atItsTurn(box, act) {
    acts.set(box, act);
    sight.observe(box);
}

function drawReady() {
    const start = performance.now();
    while (ready.length > 0 && performance.now() - start < TASK_MS) ready.shift()?.();
    if (ready.length > 0) setTimeout(drawReady);
    else if (later.length > 0 && !idle) {
        idle = true;
        whenIdle(drawLater);
    }
}

function drawLater() {
    idle = false;
    if (ready.length === 0) later.shift()?.();
    drawReady();
}

/** Safari has no requestIdleCallback. */
function whenIdle(act) {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(act, { timeout: 1000 });
    else setTimeout(act, 50);
}

/**
 * A chart; update() draws, close() frees.
 * @param {Kind} kind
 */
export function plot(kind) {
    const canvas = h('div', { class: 'chart-canvas' });
    const line = h('div', { class: 'hover-line', hidden: true }),
        bubble = h('div', { class: 'chart-bubble', hidden: true });
    const box = h('div', { class: 'chart' });
    let drawing = null,
        data = null,
        asTable = false,
        drawn = '' /* the data that is drawn, or waits for its turn */,
        closed = false;

    const resize = new ResizeObserver(() => {
        if (drawing?.getWidth() !== canvas.clientWidth) drawing?.resize();
    });
    resize.observe(box);
    const forgetTheme = onTheme(() => {
        if (data) draw();
    });
    const forgetHover = kind.timeAt ? onHover(showHover) : () => {};

    async function draw() {
        if (!asTable) reserveSpace();
        const echarts = await loadLibrary();
        if (closed) return;
        if (asTable || echarts.missing) {
            drawing?.dispose();
            drawing = null;
            fill(
                box,
                echarts.missing &&
                    h(
                        'p',
                        { class: 'notice' },
                        'This server was built without its chart library; here are the numbers.',
                    ),
                kind.table(data),
            );
            return;
        }
        if (drawing) {
            if (kind.height) drawing.resize();
            paint();
            return;
        }
        atItsTurn(box, () => {
            if (closed || asTable) return;
            drawing ??= start(echarts);
            paint();
        });
    }

    function paint() {
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', `${data.label}. The same numbers are available as a table.`);
        drawing.setOption(
            {
                animation: false,
                darkMode: isDark(),
                toolbox: { show: false },
                ...(kind.timeAt && { brush: brushOption() }),
                ...kind.option(data),
            },
            { notMerge: true },
        );
        if (kind.timeAt)
            drawing.dispatchAction({
                type: 'takeGlobalCursor',
                key: 'brush',
                brushOption: { brushType: 'lineX', brushMode: 'single' },
            });
    }

    /** Reserves the space of the chart before it can be drawn, so that nothing on the page moves then. */
    function reserveSpace() {
        if (kind.height) canvas.style.setProperty('height', `${kind.height(data)}px`);
        if (canvas.parentElement !== box) fill(box, canvas, line, bubble);
    }

    function start(echarts) {
        const made = echarts.init(canvas, null, { renderer: 'canvas' });
        made.on('click', ({ dataIndex, data: item }) => data.onPick?.(item?.index ?? dataIndex));
        const { timeAt } = kind;
        if (!timeAt) return made;
        made.on('brushEnd', ({ areas }) => {
            const [first, last] = areas[0]?.coordRange ?? [0, 0];
            made.dispatchAction({ type: 'brush', areas: [] });
            showTip(null, 0, 0);
            made.dispatchAction({ type: 'hideTip' });
            if (last <= first) return;
            if (kind.binned) showRange(timeAt(data, first), timeAt(data, last + 1));
            else showRoundRange(timeAt(data, first), timeAt(data, last), pixelOf(made, timeAt));
        });
        made.getZr().on('mousemove', ({ offsetX: x, offsetY: y }) => {
            const at = made.containPixel('grid', [x, y]) ? made.convertFromPixel('grid', [x, y]) : null;
            tellHover(at && timeAt(data, at[0]));
            showTip(at, x, y);
        });
        made.getZr().on('click', ({ offsetX: x, offsetY: y }) => {
            const to = made.containPixel('grid', [x, y]) && data.address?.(made.convertFromPixel('grid', [x, y]));
            if (to) visit(to);
        });
        made.getZr().on('globalout', () => {
            tellHover(null);
            showTip(null, 0, 0);
        });
        return made;
    }

    /** Seconds that a pixel is wide. */
    function pixelOf(made, timeAt) {
        const [from, to] = [0, 1].map((x) => timeAt(data, made.convertFromPixel({ xAxisIndex: 0 }, x)));
        return to - from;
    }

    function showTip(at, x, y) {
        const words = at && kind.tip?.(data, at);
        bubble.hidden = !words;
        if (!words) return;
        fill(bubble, words);
        const left = x + 16 + bubble.offsetWidth < box.clientWidth ? x + 16 : x - 16 - bubble.offsetWidth;
        bubble.style.setProperty(
            'transform',
            `translate(${Math.max(0, left)}px, ${Math.max(0, Math.min(y + 16, box.clientHeight - bubble.offsetHeight))}px)`,
        );
    }

    /** Where the pointer is over any chart of the page: an element, since to draw it anew would draw all. */
    function showHover(time) {
        const x = time === null ? undefined : drawing?.convertToPixel({ xAxisIndex: 0 }, kind.placeOf?.(data, time));
        line.hidden = !(x >= 0 && x <= canvas.clientWidth);
        if (!line.hidden) line.style.setProperty('transform', `translateX(${Math.round(x)}px)`);
    }

    return {
        element: box,
        update(next, showTable) {
            const words = `${showTable} ${JSON.stringify(next)}`;
            data = next;
            asTable = showTable;
            if (words === drawn) return undefined;
            drawn = words;
            return draw();
        },
        /** The picture as the address of a PNG; null while a table is shown. */
        png: () => drawing?.getDataURL({ pixelRatio: 2, backgroundColor: resolved('var(--paper)') }) ?? null,
        close() {
            closed = true;
            resize.disconnect();
            forgetTheme();
            forgetHover();
            drawing?.dispose();
        },
    };
}
