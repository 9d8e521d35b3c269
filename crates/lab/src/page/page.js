'use strict';
// Values under the pointer; the address keeps which curves are hidden and where the pointer was pressed:
// #hide=NAME&show=NAME&at=PICTURE,PLACE
const boxes = [...document.querySelectorAll('#legend input')];
const figures = [...document.querySelectorAll('figure[data-x]')].map(figure => {
  const svg = figure.querySelector('svg');
  const line = document.createElementNS(svg.namespaceURI, 'path');
  line.setAttribute('class', 'pointer');
  const tip = document.createElement('output');
  tip.hidden = true;
  svg.append(line);
  figure.append(tip);
  figure.tabIndex = 0;
  return {
    id: figure.id, svg, line, tip, slot: -1,
    pixels: figure.dataset.x.split(' ').map(Number),
    places: figure.dataset.at.split('|'),
    units: figure.dataset.units.split('|'),
    curves: [...figure.querySelectorAll('path[data-values]')].map(path => (
      { path, name: path.dataset.name, values: path.dataset.values.split(' ').map(Number) })),
  };
});
let pinned = null;

function element(kind, text, parent) {
  const made = document.createElement(kind);
  made.textContent = text;
  parent.append(made);
  return made;
}

// The values of one place of a picture; without a place, none.
function point(figure, slot) {
  figure.slot = slot;
  figure.tip.hidden = slot < 0;
  figure.tip.replaceChildren();
  figure.line.removeAttribute('d');
  if (slot < 0) return;
  const { width, height } = figure.svg.viewBox.baseVal;
  const x = figure.pixels[slot];
  figure.line.setAttribute('d', `M${x} 0V${height - 20}`);
  const place = figure.places[slot];
  element('b', place + (place === 'longest' ? '' : figure.units[0]), figure.tip);
  figure.curves
    .filter(curve => !isNaN(curve.values[slot]) && getComputedStyle(curve.path).display !== 'none')
    .sort((one, other) => other.values[slot] - one.values[slot])
    .forEach(curve => {
      const name = element('span', curve.name, figure.tip);
      name.style.color = getComputedStyle(curve.path).stroke;
      element('i', curve.values[slot].toLocaleString('en', { maximumSignificantDigits: 4 }) + figure.units[1], figure.tip);
    });
  const isLeft = x < width / 2;
  figure.tip.style.left = isLeft ? `calc(${100 * x / width}% + 12px)` : 'auto';
  figure.tip.style.right = isLeft ? 'auto' : `calc(${100 - 100 * x / width}% + 12px)`;
}

function nearest(figure, event) {
  const box = figure.svg.getBoundingClientRect();
  const x = (event.clientX - box.left) * figure.svg.viewBox.baseVal.width / box.width;
  return figure.pixels.reduce((best, pixel, slot) =>
    Math.abs(pixel - x) < Math.abs(figure.pixels[best] - x) ? slot : best, 0);
}

const rest = figure => point(figure, pinned && pinned.figure === figure ? pinned.slot : -1);

function readAddress() {
  const state = new URLSearchParams(location.hash.slice(1));
  const hidden = state.getAll('hide'), shown = state.getAll('show');
  boxes.forEach(box => { box.checked = box.defaultChecked ? !hidden.includes(box.value) : shown.includes(box.value); });
  const [, id, place] = /^([^,]*),(.*)$/.exec(state.get('at') ?? '') ?? [];
  const figure = figures.find(figure => figure.id === id);
  const slot = figure ? figure.places.indexOf(place) : -1;
  pinned = slot < 0 ? null : { figure, slot };
  figures.forEach(rest);
}

function writeAddress() {
  const state = new URLSearchParams();
  boxes.filter(box => box.checked !== box.defaultChecked)
    .forEach(box => state.append(box.checked ? 'show' : 'hide', box.value));
  if (pinned) state.append('at', `${pinned.figure.id},${pinned.figure.places[pinned.slot]}`);
  history.replaceState(null, '', `#${state}`);
}

boxes.forEach(box => box.addEventListener('change', () => { writeAddress(); figures.forEach(rest); }));
figures.forEach(figure => {
  const pin = slot => { pinned = { figure, slot }; figures.forEach(rest); writeAddress(); };
  figure.svg.addEventListener('pointermove', event => point(figure, nearest(figure, event)));
  figure.svg.addEventListener('pointerleave', () => rest(figure));
  figure.svg.addEventListener('click', event => pin(nearest(figure, event)));
  figure.svg.parentNode.addEventListener('keydown', event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    pin(Math.min(Math.max(figure.slot + step, 0), figure.places.length - 1));
  });
});
addEventListener('hashchange', readAddress);
readAddress();
