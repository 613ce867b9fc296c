/* timeline_colors.js - what boxes are filled with: by layer, name, category or process, whole or paler where they
 * stand for little. */

import { onTheme, resolved } from './palette.js';

export const SHADES = 8;
const MIXED = 24;

/**
 * @typedef {{fills: string[], inks: string[], pixels: Uint32Array, edge: string|null}} Ink  by shade, the palest
 * first; pixels: of the full colour, as a bitmap has it
 */

const parts = (color) => Array.from(resolved(color).matchAll(/[\d.]+/g), ([digits]) => Number(digits));

/** One of 24 colours for names, as the server numbers them. */
export function mixedColor(number) {
    const hue = `var(--layer-${(number % 12) + 1})`;
    return number < 12 ? hue : `color-mix(in oklab, ${hue}, var(--ink) 32%)`;
}

/** FNV-1a of a text, of 24. */
export function colorOfText(words) {
    let hash = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(words)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    return hash % MIXED;
}

/** @returns {Ink} */
function inkOf(color, paper, hatched) {
    const full = parts(color),
        fills = [],
        inks = [];
    for (let shade = 0; shade <= SHADES; shade++) {
        const share = shade / SHADES,
            mixed = [0, 1, 2].map((at) => Math.round(paper[at] + (full[at] - paper[at]) * share));
        fills.push(`rgb(${mixed.join()})`);
        inks.push(luminance(mixed) > 0.22 ? '#101216' : '#ffffff');
    }
    const [red, green, blue] = full;
    return {
        fills,
        inks,
        pixels: Uint32Array.of(((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0),
        edge: hatched
            ? `rgb(${full
                  .slice(0, 3)
                  .map((one) => Math.round(one * 0.62))
                  .join()})`
            : null,
    };
}

function luminance(color) {
    const [red, green, blue] = color.map((one) =>
        one / 255 <= 0.04 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Colours that follow light and dark; the first one is of what has none.
 * @param {() => void} changed
 */
export function inks(changed) {
    let kept = new Map(),
        common = null;
    const stop = onTheme(() => {
        kept = new Map();
        common = null;
        changed();
    });

    /** @param {import('./layers.js').Layer[]|null} layers  null: 24 mixed ones */
    function of(layers) {
        const key = layers ?? 'mixed';
        if (!kept.has(key)) {
            const paper = parts('var(--paper)'),
                colors =
                    layers?.map(({ color, hatched }) => /** @type {[string, boolean]} */ ([color, hatched])) ??
                    Array.from(
                        { length: MIXED },
                        (_, at) => /** @type {[string, boolean]} */ ([mixedColor(at), false]),
                    );
            kept.set(
                key,
                [['var(--line-strong)', false], ...colors].map(([color, hatched]) => inkOf(color, paper, hatched)),
            );
        }
        return kept.get(key);
    }

    return {
        of,
        close: stop,
        get frame() {
            return (common ??= Object.fromEntries(
                [
                    'paper',
                    'ground',
                    'line',
                    'line-strong',
                    'ink',
                    'ink-2',
                    'ink-3',
                    'accent',
                    'selection',
                    'sunken',
                    'skeleton',
                ].map((name) => [name, resolved(`var(--${name})`)]),
            ));
        },
    };
}
