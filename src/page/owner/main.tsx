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

// The back-forward cache keeps a page that was left in memory, with its key. When it comes back, nothing of it is shown or goes on.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  root?.remove();
  location.reload();
});

if (root !== null) render(<Console />, root);
