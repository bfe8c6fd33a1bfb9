import { render } from 'preact'
import { index } from './gateway.ts'
import { App } from './shell/app.tsx'
import { applyTheme } from './shell/theme.ts'
import './ui/tokens.css'
import './ui/base.css'
import './ui/components.css'

applyTheme()
// The address changes between pages while the document stays, so links in the document must not be relative to the
// address: styles would be loaded again, after the styles of the pages.
for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=icon], link[rel=stylesheet]'))
  link.setAttribute('href', link.href)
void index.load()
render(<App />, document.getElementById('root') as HTMLElement)
