// The hash of the address. It is never sent to a server.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export const hash = signal('')

export function readHash(): void {
  hash.value = location.hash.slice(1)
}

/** Updates the hash while the page is shown. */
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
