import { HEADER_ENVELOPE, HEADER_SIGNATURE } from '@svc/protocol/names'
import { expect, it } from 'vitest'
import { signedHeaders } from '../../src/calls/signed-headers.ts'
import { newEd25519, newEvm, openHouse } from '../lockers.ts'

it('ENV-01 headers for a request that somebody sends themselves are what the client would send, and work once', {
  tags: ['nightly'],
}, async () => {
  const house = await openHouse()
  try {
    for (const signer of [newEd25519(), newEvm()]) {
      const locker = await house.locker(signer)
      const path = `/v1/lockers/${locker.locker_id}/files`
      const request = { method: 'GET', path, ops: ['locker:list'], body: new Uint8Array(), ...locker } as const
      const headers = await signedHeaders({ baseUrl: house.gateway.url, signer, now: Date.now }, request)
      expect(Object.keys(headers)).toEqual([HEADER_ENVELOPE, HEADER_SIGNATURE])
      const send = async () => (await fetch(`${house.gateway.url}${path}?limit=1`, { headers })).status
      expect([await send(), await send()]).toEqual([200, 403])
    }
  } finally {
    await house.close()
  }
})
