// The current folder is in the hash of the address, `#files/photos/2026`, so that the back button goes through folders
// and a reload shows the same folder.

import { signal } from '@preact/signals'
import { safeDecode } from '../../../address.ts'

const TAB = '#files/'

/** Ends with a slash; empty for the top folder. */
export const folder = signal(folderHere())

export function openFolder(next: string): void {
  const path = next.split('/').filter(Boolean).map(encodeURIComponent).join('/')
  history.pushState(null, '', path === '' ? '#files' : TAB + path)
  folder.value = next
}

/** Updates the folder from the address while the list is shown. */
export function followAddress(): () => void {
  const follow = () => {
    // Other tabs of the page use the hash in the meantime.
    if (location.hash === '' || location.hash.startsWith('#files')) folder.value = folderHere()
  }
  follow()
  addEventListener('popstate', follow)
  addEventListener('hashchange', follow)
  return () => {
    removeEventListener('popstate', follow)
    removeEventListener('hashchange', follow)
  }
}

function folderHere(): string {
  const { hash } = location
  if (!hash.startsWith(TAB)) return ''
  const names = hash.slice(TAB.length).split('/').map(safeDecode).filter(Boolean)
  return names.length === 0 ? '' : `${names.join('/')}/`
}
