import { listLockers as endpoint, ListedLocker } from '@svc/api/lockers'
import { lockerName } from '@svc/sdk'
import Type, { type Static } from 'typebox'
import { type KnownLocker, knownLockers, named } from '../../setup/known-lockers.ts'
import { counted } from '../server/readable.ts'
import { DATA, PAGE, PAGE_SIZE, READS, STRICT, tool } from './tool.ts'

const Name = Type.Union([Type.String(), Type.Null()], {
  description:
    'Chosen by the user. Null for lockers of others that the user has not named, even if they have a name tag.',
})

const Lockers = Type.Object({
  wallet: Type.Union([Type.String(), Type.Null()]),
  lockers: Type.Array(Type.Object({ name: Name, ...ListedLocker.properties })),
  next_cursor: Type.Optional(Type.String()),
  remembered: Type.Array(Type.Object({ name: Name, receipt_id: Type.String() }), {
    description: 'On the first page: lockers of others that the command line remembers on this machine.',
  }),
})

export const listLockers = tool({
  name: 'list_lockers',
  title: 'Lockers of this wallet',
  description:
    'Lists the lockers that the wallet of this server owns or operates, newest first, with the receipt_id that other ' +
    'tools need. Use it before buying, and for an unknown receipt_id. A receipt_id opens the files of its locker to ' +
    `anyone: share files with \`get_link\`. ${DATA}`,
  annotations: READS,
  input: Type.Object(
    {
      ...PAGE,
    },
    STRICT,
  ),
  output: Lockers,
  async run(context, { limit = PAGE_SIZE, cursor }, { signal }) {
    const { settings, client, owner } = context
    const wallet = owner?.signer.address ?? null
    // One damaged file must not hide the others.
    const known = named(await knownLockers(settings.stateFolder, () => null), settings.gateway)
    const ofOthers = known.filter(({ owner: payer }) => wallet === null || payer !== wallet)
    const remembered = cursor === undefined ? ofOthers.map(rememberedLocker) : []
    if (wallet === null) {
      const text = 'This server has no key, so only lockers that this machine remembers are listed.'
      return { text, data: { wallet, lockers: [], remembered } }
    }
    const query = { wallet, limit, ...(cursor && { cursor }) }
    const { body } = await client.call(endpoint, { query, signal })
    const names = new Map(known.map(({ receipt_id, name }) => [receipt_id, name]))
    const lockers = body.lockers.map((locker) => ({
      // Any owner can make this wallet an operator of a locker that has the name of one of the user's lockers.
      name: names.get(locker.receipt_id) ?? (locker.owner === wallet ? lockerName(locker.tags) : null),
      ...locker,
    }))
    const next = body.next_cursor !== undefined && { next_cursor: body.next_cursor }
    return { text: listText(lockers, next !== false), data: { wallet, lockers, ...next, remembered } }
  },
})

function rememberedLocker({ name, receipt_id }: KnownLocker) {
  return { name, receipt_id }
}

function listText(lockers: Static<typeof Lockers>['lockers'], hasMore: boolean): string {
  const more = hasMore ? 'there are more: give next_cursor as cursor' : 'there are no more'
  const unopened = lockers.filter(({ opened }) => !opened).length
  const closed =
    unopened === 0
      ? ''
      : ` ${unopened} of them ${unopened === 1 ? 'is' : 'are'} paid for but not opened yet: the user opens a locker with \`svc provision RECEIPT\`; \`purchase_status\` shows how to continue a purchase of this server.`
  return `${counted(lockers.length, 'locker')}; ${more}.${closed}`
}
