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

describe('permission to act', () => {
  const mayAct = (list: string, caller: InternalCaller, mode: 'development' | 'production' = 'production') =>
    describeCaller(caller, readActors(new SettingsReader({ ADMINS: list }, SETTINGS), mode)).may_act

  it('T-26 production allows only identities named in ADMINS', () => {
    for (const caller of [oidc('anna', 'anna@example.com'), { kind: 'secret' }, { kind: 'development' }] as const)
      expect(mayAct('', caller)).toBe(false)
    expect(mayAct('', { kind: 'development' }, 'development')).toBe(true)
    expect(mayAct('anna', { kind: 'development' }, 'development')).toBe(false)
  })

  it('T-26 matches a name as an email address, a subject or the shared secret, and never as another kind', () => {
    const list = 'anna@example.com, 1234, secret'
    expect(mayAct(list, oidc('x', 'anna@example.com'))).toBe(true)
    expect(mayAct(list, oidc('1234', 'other@example.com'))).toBe(true)
    expect(mayAct(list, { kind: 'secret' })).toBe(true)
    // A provider may let anyone register a subject that reads like an address or like "secret".
    expect(mayAct(list, oidc('anna@example.com'))).toBe(false)
    expect(mayAct(list, oidc('secret'))).toBe(false)
    expect(mayAct('anna', { kind: 'secret' })).toBe(false)
  })
})
