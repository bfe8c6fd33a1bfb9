// The address of this gateway, and the path of the current page. Paths begin with `/` and are below the prefix that the
// gateway may have.

import { signal } from '@preact/signals'

const thisFile = import.meta.url

/** Ends with a slash. All files of the pages are in its folder `assets`. */
export const ROOT_URL = new URL('..', thisFile)

/** The path of the current page. */
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

/** Decodes a path part. Text with an invalid encoding stays unchanged; the caller then finds nothing. */
export function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
