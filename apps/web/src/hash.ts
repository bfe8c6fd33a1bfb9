// What stands behind the hash of the address. It never reaches a server.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export const hash = signal('')

export function readHash(): void {
  hash.value = location.hash.slice(1)
}

/** Follows the hash as long as the page is shown. */
export function useHash(): void {
  useEffect(() => {
    readHash()
    addEventListener('hashchange', readHash)
    addEventListener('popstate', readHash)
    return () => {
      removeEventListener('hashchange', readHash)
      removeEventListener('popstate', readHash)
      hash.value = ''
    }
  }, [])
}
