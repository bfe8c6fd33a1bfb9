// Which section is shown, with what it looks for: `#lockers?q=…`.

import { safeDecode } from '../../address.ts'
import { hash, readHash } from '../../hash.ts'

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
  readHash()
}
