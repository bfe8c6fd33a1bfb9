import { SettingsReader } from '@svc/service/program/config'
import { describe, expect, it } from 'vitest'
import type { InternalCaller } from '../../../src/auth/internal-callers.ts'
import { readActors } from '../../../src/auth/settings.ts'
import { SETTINGS } from '../../../src/settings.ts'
import { describeCaller } from '../../../src/views/admin/actors.ts'

const oidc = (subject: string, email: string | null = null): InternalCaller => ({
  kind: 'oidc',
  service: email ?? subject,
  email,
  subject,
})

describe('who may act', () => {
  const mayAct = (list: string, caller: InternalCaller, mode: 'development' | 'production' = 'production') =>
    describeCaller(caller, readActors(new SettingsReader({ ADMINS: list }, SETTINGS), mode)).may_act

  it('T-26 in production nobody does unless they are named', () => {
    for (const caller of [oidc('anna', 'anna@example.com'), { kind: 'secret' }, { kind: 'development' }] as const)
      expect(mayAct('', caller)).toBe(false)
    expect(mayAct('', { kind: 'development' }, 'development')).toBe(true)
    expect(mayAct('anna', { kind: 'development' }, 'development')).toBe(false)
  })

  it('T-26 a name counts as what it is: an address, a subject, or the shared secret', () => {
    const list = 'anna@example.com, 1234, secret'
    expect(mayAct(list, oidc('x', 'anna@example.com'))).toBe(true)
    expect(mayAct(list, oidc('1234', 'other@example.com'))).toBe(true)
    expect(mayAct(list, { kind: 'secret' })).toBe(true)
    // Text of others, under which a provider lets anybody sign up.
    expect(mayAct(list, oidc('anna@example.com'))).toBe(false)
    expect(mayAct(list, oidc('secret'))).toBe(false)
    expect(mayAct('anna', { kind: 'secret' })).toBe(false)
  })
})
