import { NETWORKS } from '@svc/api/networks'
import { PROVIDER_FACTS } from '@svc/api/providers'
import { expect, it } from 'vitest'
import { networkTitle, providerTitle, shortAmount } from '../src/ui/names.ts'

it('names networks and providers as the interface does', () => {
  for (const { name, caip2, title } of NETWORKS)
    expect([networkTitle(name), networkTitle(caip2)]).toEqual([title, title])
  for (const [name, { title }] of Object.entries(PROVIDER_FACTS)) expect(providerTitle(name)).toBe(title)
  expect([networkTitle('eip155:1'), networkTitle('other'), providerTitle('other')]).toEqual(['EVM 1', 'other', 'other'])
})

it.each([
  ['0.25', '0.25'],
  ['1', '1'],
  ['7.142857142857142858', '7.14286'],
  ['0.000071428571428572', '0.0000714286'],
  ['0.001663894', '0.0016639'],
  ['1234567.000000000000000001', '1234568'],
  ['0.999999999', '1'],
  ['9.999999999', '10'],
  ['10.500000000', '10.5'],
])('shows the amount %s as %s, which is never lower', (amount, shown) => {
  expect(shortAmount(amount)).toBe(shown)
})
