import { expect, it } from 'vitest'
import * as names from '../src/names.ts'

it('GEN-01 every name of ours begins with the product name in the spelling of its kind', () => {
  const ours = Object.entries(names).filter(([, value]) => typeof value === 'string' && /[a-z]/i.test(value))
  const odd = ours.filter(([, value]) => !/^(?:X-Svc-|(?:urn:)?svc[:/_.-]|SVC(?:_|GW_))/.test(value as string))
  expect(odd).toEqual([])
  expect(ours.length).toBeGreaterThan(10)
  const spelled = ['X-Svc-Envelope', 'X-Svc-Signature', 'svc/evidence/v2', 'svc_quote_v4', 'SVCGW_CONTENT_ENVELOPE_V2']
  expect(ours.map(([, value]) => value)).toEqual(expect.arrayContaining(spelled))
})
