// The console at /owner. It starts here.
import { render } from 'hono/jsx/dom';
import { Console } from './console.tsx';

// A held Enter presses a button again and again: one press is one press.
document.addEventListener(
  'keydown',
  (event) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault();
  },
  true,
);

const root = document.getElementById('console');
if (root !== null) render(<Console />, root);
