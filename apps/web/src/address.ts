// Where this gateway is, and the path of the page that is shown. Paths begin with `/` and are below the prefix that the
// gateway may have.

import { signal } from '@preact/signals'

const thisFile = import.meta.url

/** With a slash at the end: all files of the pages are in the folder `assets` there. */
export const ROOT_URL = new URL('..', thisFile)

/** Of the page that is shown. */
export const currentPath = signal(pathHere())

/** The address of a path of this gateway, for links and requests. */
export function urlOf(path: string): string {
  return new URL(path.replace(/^\//, ''), ROOT_URL).href
}

/** Shows a page without loading the document again. */
export function navigate(path: string): void {
  history.pushState(null, '', urlOf(path))
  currentPath.value = pathHere()
  scrollTo(0, 0)
}

function pathHere(): string {
  return `/${location.pathname.slice(ROOT_URL.pathname.length)}`
}

addEventListener('popstate', () => {
  currentPath.value = pathHere()
})

/** Text that is no valid encoding stays as it is; the caller then finds nothing. */
export function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
