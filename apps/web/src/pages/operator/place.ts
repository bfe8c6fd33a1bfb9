// Which section is shown, with what it looks for: `#lockers?q=…`. What stands behind the hash never reaches a server.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { safeDecode } from '../../address.ts'

const hash = signal('')

export function useHash(): void {
  useEffect(() => {
    const read = () => {
      hash.value = location.hash.slice(1)
    }
    read()
    addEventListener('hashchange', read)
    addEventListener('popstate', read)
    return () => {
      removeEventListener('hashchange', read)
      removeEventListener('popstate', read)
    }
  }, [])
}

export function sectionName(): string {
  return safeDecode(hash.value.split('?')[0] ?? '').replace(/^\//, '')
}

export function param(name: string): string {
  return new URLSearchParams(hash.value.split('?')[1] ?? '').get(name) ?? ''
}

export function linkTo(section: string, params: Record<string, string> = {}): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value)).toString()
  return `#${section}${query && `?${query}`}`
}

/** Without a new entry in the history: the same section, looked at otherwise. */
export function setParams(params: Record<string, string>): void {
  const [section = '', query = ''] = hash.value.split('?')
  const all = { ...Object.fromEntries(new URLSearchParams(query)), ...params }
  history.replaceState(null, '', linkTo(section, all))
  hash.value = location.hash.slice(1)
}
