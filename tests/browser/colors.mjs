/* colors.mjs - the colours of layers can be distinguished, each from each, with any kind of colour vision. */

import assert from 'node:assert/strict';

/* Least distance of two layers, in OKLab times 100; about 2 can just be seen side by side. */
const APART = 6;

/* What is left of linear red, green and blue without one kind of cones (Machado, Oliveira and Fernandes, 2009). */
const VISIONS = {
    all: [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ],
    protanopia: [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    deuteranopia: [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
};

const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, part, at) => sum + part * vector[at], 0));
const linear = (byte) => (byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);

function oklab(rgb) {
    const cones = times(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ],
        rgb,
    );
    return times(
        [
            [0.2104542553, 0.793617785, -0.0040720468],
            [1.9779984951, -2.428592205, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.808675766],
        ],
        cones.map(Math.cbrt),
    );
}

const seenWith = (vision, bytes) =>
    oklab(times(vision, bytes.map(linear)).map((part) => Math.max(0, Math.min(1, part))));

/** {layer: [red, green, blue]} of the squares before the layers' names. */
function shown(page) {
    return page.locator('table.layers tbody tr').evaluateAll((rows) => {
        const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true }),
            probe = document.body.appendChild(document.createElement('span'));
        const bytes = (color) => {
            probe.style.color = color;
            pen.fillStyle = getComputedStyle(probe).color;
            pen.fillRect(0, 0, 1, 1);
            return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
        };
        return Object.fromEntries(
            rows.map((row) => [
                row.cells[0].innerText.trim(),
                bytes(getComputedStyle(row.querySelector('.swatch')).getPropertyValue('--color')),
            ]),
        );
    });
}

async function layersAreDistinguished(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    let least = { distance: Infinity, pair: '' };
    for (const colorScheme of ['light', 'dark'])
        for (const preset of ['dlio', 'ai']) {
            await page.emulateMedia({ colorScheme });
            await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}&preset=${preset}`);
            await page.locator('table.layers').waitFor();
            const layers = Object.entries(await shown(page));
            assert.ok(layers.length > 10, `${layers.length} layers`);
            for (const [kind, vision] of Object.entries(VISIONS))
                for (const [at, [name, color]] of layers.entries())
                    for (const [other, its] of layers.slice(0, at)) {
                        const a = seenWith(vision, color),
                            b = seenWith(vision, its);
                        const distance = 100 * Math.hypot(...a.map((part, i) => part - b[i]));
                        if (distance < least.distance)
                            least = { distance, pair: `${name} and ${other}, ${kind}, ${colorScheme}, ${preset}` };
                    }
        }
    console.log(`   nearest: ${least.pair}: ${least.distance.toFixed(1)}`);
    assert.ok(least.distance >= APART, `${least.pair}: ${least.distance.toFixed(2)}`);
}

export const tests = [{ name: 'colors: layers are distinguished by all eyes', body: layersAreDistinguished }];
