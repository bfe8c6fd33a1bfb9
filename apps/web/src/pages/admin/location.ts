// The current section and its search, in the address: `#lockers?q=…`.

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

/** Changes the parameters of the section, without a new history entry. */
export function setParams(params: Record<string, string>): void {
  const [section = '', query = ''] = hash.value.split('?')
  const all = { ...Object.fromEntries(new URLSearchParams(query)), ...params }
  history.replaceState(null, '', linkTo(section, all))
  readHash()
}
