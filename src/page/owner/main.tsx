// The console at /owner. It starts here.
import { render } from 'hono/jsx/dom';
import { Console } from './console.tsx';

// Otherwise a held Enter would press a button again and again.
document.addEventListener(
  'keydown',
  (event) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault();
  },
  true,
);

const root = document.getElementById('console');
if (root !== null) render(<Console />, root);
