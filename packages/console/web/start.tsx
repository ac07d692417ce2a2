/** The beginning of the page: the login, or the frame with a page in it. */
import './style/tokens.css';
import './style/base.css';
import './style/frame.css';
import './style/pages.css';
import { type JSX, render } from 'preact';
import { Frame } from './frame/frame.js';
import { Login } from './frame/login.js';
import { isLoggedIn } from './state/session.js';

function App(): JSX.Element {
  return isLoggedIn.value ? <Frame /> : <Login />;
}

const app = document.getElementById('app');
if (app !== null) {
  app.textContent = '';
  render(<App />, app);
}
