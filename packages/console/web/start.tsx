/** The beginning of the page: the login, or the frame with a page in it. */
import './style/tokens.css';
import './style/base.css';
import './style/frame.css';
import './style/pages.css';
import './style/charts.css';
import './style/graph.css';
import { type JSX, render } from 'preact';
import { Frame } from './frame/frame.js';
import { Login } from './frame/login.js';
import { goOn, isLoggedIn } from './state/session.js';

function App(): JSX.Element {
  return isLoggedIn.value ? <Frame /> : <Login />;
}

const app = document.getElementById('app');
// Which of the two comes first is not known before.
await goOn();
if (app !== null) {
  app.textContent = '';
  render(<App />, app);
}
