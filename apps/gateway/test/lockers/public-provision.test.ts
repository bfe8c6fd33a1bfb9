import type { ProvisionManifest } from '@svc/api/lockers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse } from '../auth/lockers.ts'
import { PROVISION, provisionAt, SIGNED_PROVISION } from './provision.ts'

let house: LockerHouse
beforeAll(async () => {
  house = await openLockerHouse()
})
afterAll(() => house.close())

describe('provisioning without an envelope', () => {
  it('LOCK-07 AMB-18 AMB-03 a request without an envelope opens no locker, whatever its body', async () => {
    const owner = ed25519Identity()
    const receipt_id = await house.receipt(owner)
    for (const body of [{ receipt_id }, {}, '{', undefined, { receipt_id: 'rcpt_of_nobody' }]) {
      expectRefusal(await house.send('POST', PROVISION, body), 401, 'MISSING_ENVELOPE')
    }
    expectRefusal(await house.send('POST', SIGNED_PROVISION, { receipt_id }), 422, 'validation_error')
    expect((await provisionAt(house, owner, receipt_id)).body.already_provisioned).toBe(false)
  })

  it('AMB-18 production refuses to start with public provisioning', () => {
    const settings = { SVC_MODE: 'production', ALLOW_PUBLIC_PROVISION: 'true' }
    expect(() => readConfig(settings)).toThrow('ALLOW_PUBLIC_PROVISION')
    expect(() => readConfig({ SVC_MODE: 'production' })).not.toThrow('ALLOW_PUBLIC_PROVISION')
  })

  describe('on a development gateway that allows it', () => {
    let openHouse: LockerHouse
    beforeAll(async () => {
      openHouse = await openLockerHouse({ ALLOW_PUBLIC_PROVISION: 'true' })
    })
    afterAll(() => openHouse.close())
    const send = (body: object, headers?: Record<string, string>) =>
      openHouse.send<ProvisionManifest>('POST', PROVISION, body, headers)

    it('LOCK-07 AMB-18 with public provisioning anybody who knows a receipt opens its locker for the payer', async () => {
      const [owner, operator] = [ed25519Identity(), ed25519Identity()]
      const receipt_id = await openHouse.receipt(owner)
      const { status, body } = await send({ receipt_id, tags: ['t'], operator_pubkey: operator.identity })
      expect([status, body]).toMatchObject([
        200,
        { already_provisioned: false, owner: owner.identity, operators: [operator.identity], tags: ['t'] },
      ])
      expectRefusal(await send({ receipt_id: 'rcpt_of_nobody' }), 404, 'receipt_not_found')
      expectRefusal(await send({}), 422, 'validation_error')
      expectRefusal(await openHouse.send('POST', SIGNED_PROVISION, { receipt_id }), 422, 'validation_error')
    })

    it('LOCK-07 T-28 public provisioning adds no operator to an existing locker', async () => {
      const owner = ed25519Identity()
      const { receiptId, call } = await openHouse.locker(owner)
      const intruder = ed25519Identity()
      const { body } = await send({ receipt_id: receiptId, operator_pubkey: intruder.identity, tags: ['x'] })
      expect(body).toMatchObject({ already_provisioned: true, operators: [], tags: [] })
      expectRefusal(await call(['locker:read'], 'GET', '/record', undefined, intruder), 403, 'SIGNATURE_INVALID')
    })

    it('AMB-18 GEN-05 public provisioning still checks an envelope that is sent', async () => {
      const owner = ed25519Identity()
      const receiptId = await openHouse.receipt(owner)
      const call = { path: PROVISION }
      expectRefusal(await provisionAt(openHouse, ed25519Identity(), receiptId, {}, call), 403, 'SIGNATURE_INVALID')
      const body = { receipt_id: receiptId }
      expectRefusal(await send(body, { 'x-svc-envelope': 'e30' }), 422, 'validation_error')
      expectRefusal(await send(body, { 'x-svc-signature': '1' }), 422, 'validation_error')
      expectRefusal(await send(body, { 'x-svc-envelope': '', 'x-svc-signature': '' }), 422, 'validation_error')
      expect((await provisionAt(openHouse, owner, receiptId, {}, call)).body.already_provisioned).toBe(false)
    })
  })
})
