import { render } from 'preact'
import { index } from './gateway.ts'
import { App } from './shell/app.tsx'
import { applyTheme } from './shell/theme.ts'
import './ui/tokens.css'
import './ui/base.css'
import './ui/components.css'

applyTheme()
void index.load()
render(<App />, document.getElementById('root') as HTMLElement)
