import { render } from 'preact';
import { listenUnauthorized } from './api/client.ts';
import { Shell } from './shell.tsx';
import { listenKeys } from './state/actions.ts';
import { closeSession, resumeSession } from './state/session.ts';
import { takeTokenOfLink } from './state/token.ts';

takeTokenOfLink();
// A link with a token that is opened in this tab.
addEventListener('hashchange', () => {
  if (!/[#&?]token=/.test(location.hash)) return;
  takeTokenOfLink();
  resumeSession();
});
listenUnauthorized(closeSession);
listenKeys();
resumeSession();
render(<Shell />, document.getElementById('page')!);
