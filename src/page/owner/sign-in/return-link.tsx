// The way back to the product that sent the owner here.
import { isReturnUrl } from '../../../core/session.ts';

/** `url` is checked again, so that nothing in the storage of a tab can become a script. */
export const ReturnLink = ({ url }: { url: string | null | undefined }) =>
  url && isReturnUrl(url) ? (
    <a class="return" href={url} rel="noreferrer">
      Back to {new URL(url).host}
    </a>
  ) : null;
