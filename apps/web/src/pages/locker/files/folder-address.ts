// The folder that is shown is in the address behind the hash, `#files/photos/2026`, so that the way back leads through
// folders and a reload stays where it was.

import { signal } from '@preact/signals'
import { safeDecode } from '../../../address.ts'

const TAB = '#files/'

/** With a slash at its end; empty for the whole locker. */
export const folder = signal(folderHere())

export function openFolder(next: string): void {
  const path = next.split('/').filter(Boolean).map(encodeURIComponent).join('/')
  history.pushState(null, '', path === '' ? '#files' : TAB + path)
  folder.value = next
}

/** Follows the address as long as the list is shown. */
export function followAddress(): () => void {
  const follow = () => {
    // Other tabs of the page have the hash meanwhile.
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
