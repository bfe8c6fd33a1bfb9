import { render } from 'preact'
import { index } from './gateway.ts'
import { App } from './shell/app.tsx'
import { applyTheme } from './shell/theme.ts'
import './ui/tokens.css'
import './ui/base.css'
import './ui/components.css'

applyTheme()
// Between pages the address changes, and the document stays: what it names must not be relative to the address. Styles
// would be loaded again, and so come after those of the pages.
for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=icon], link[rel=stylesheet]'))
  link.setAttribute('href', link.href)
void index.load()
render(<App />, document.getElementById('root') as HTMLElement)
