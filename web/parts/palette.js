/* palette.js - what a CSS colour is at this moment, for canvas, which knows neither var() nor light-dark(). */

import { h, penOf } from '../dom.js';

const probe = h('span', { class: 'visually-hidden', 'aria-hidden': 'true' });

const pixel = penOf(document.createElement('canvas'), { willReadFrequently: true });

/* Colours resolved already: each new one makes the browser compute styles and read a pixel back. */
const known = new Map();

/**
 * @param {string} color  any CSS colour, such as "var(--ink-2)"
 * @returns {string} rgba(..), whatever space it was given in
 */
export function resolved(color) {
    let rgba = known.get(color);
    if (!rgba) known.set(color, (rgba = look(color)));
    return rgba;
}

function look(color) {
    if (!probe.isConnected) document.body.append(probe);
    probe.style.setProperty('color', color);
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = getComputedStyle(probe).color;
    pixel.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
    return `rgba(${red},${green},${blue},${alpha / 255})`;
}

/**
 * Calls back when light turns dark or dark light, by the switch, by the system, or for printing, which is always
 * light.
 */
export function onTheme(changed) {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const print = matchMedia('print');
    for (const one of [media, print]) one.addEventListener('change', changed);
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
        for (const one of [media, print]) one.removeEventListener('change', changed);
        observer.disconnect();
    };
}

/* Before any chart hears of it. */
onTheme(() => known.clear());

export function isDark() {
    return (
        getComputedStyle(document.documentElement).colorScheme === 'dark' ||
        (getComputedStyle(document.documentElement).colorScheme === 'light dark' &&
            matchMedia('(prefers-color-scheme: dark)').matches)
    );
}

/** The switch: the other one than now; back to the system's choice when that is the same. */
export function switchTheme() {
    const wanted = isDark() ? 'light' : 'dark';
    const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    if (wanted === system) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = wanted;
    try {
        if (wanted === system) localStorage.removeItem('theme');
        else localStorage.setItem('theme', wanted);
    } catch {
        /* storage is off: the choice lasts until reload */
    }
}
