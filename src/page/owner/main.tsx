// The entry point of the console at /owner.
import { render } from 'preact';
import { Console } from './console.tsx';

// Ignores key repeat: a held Enter would press a button again, and then the button that replaces it.
document.addEventListener(
  'keydown',
  (event) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault();
  },
  true,
);

const root = document.getElementById('console');

// The back-forward cache would keep the page and its session in memory. Clears the page before it is cached, and reloads it when it is
// restored.
addEventListener('pagehide', ({ persisted }) => persisted && root?.remove());
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

if (root !== null) render(<Console />, root);
