import { readFileSync } from 'node:fs'

const page = readFileSync(new URL('./docs-page.html', import.meta.url), 'utf8')

/** A page that draws `/openapi.json`; it loads nothing from elsewhere. */
export function docsPage(): string {
  return page
}
