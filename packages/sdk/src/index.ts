// The public interface of the SDK: clients of a gateway and its agent service, for Node and browsers.

export type { AccessEntry, AccessList } from '@svc/api/access'
export type { ActivityEntry } from '@svc/api/activity'
export type { Anchoring, ListedLocker, PublicLink } from '@svc/api/lockers'
export type {
  NewS3Key,
  NewWalletS3Key,
  S3Credentials,
  S3Key,
  WalletS3Credentials,
  WalletS3Key,
} from '@svc/api/s3-credentials'
export type { Share } from '@svc/api/shares'
export type { TusToken } from '@svc/api/tus'
export type { LockerUsage } from '@svc/api/usage'
export { publicUrl } from './calls/target.ts'
export { type AgentClient, type Client, createAgentClient, createClient } from './client.ts'
export type { ClientOptions, Overrides, Retry } from './context.ts'
export * from './errors.ts'
export { contentTypeOf } from './files/content-type.ts'
export type { Download } from './files/download.ts'
export { ENCRYPTED_ENDING, plainName } from './files/filename.ts'
export type { RemoveOptions } from './files/list.ts'
export type { NamedBytes } from './files/put-many.ts'
export type { Rename, RenameOptions } from './files/rename.ts'
export { chunksOf, type Source, streamSource } from './files/source.ts'
export { type PutOutcome, SMALL_FILE_BYTES, type StoredFile } from './files/upload.ts'
export { type Journal, type JournalEntry, journalEntry, memoryJournal, storageJournal } from './journal.ts'
export { lockerName, nameObjection } from './locker-names.ts'
export { type Locker, lockerOf, namedTags, provisionObjection } from './lockers.ts'
export type { Purchase, QuotedPurchase, RenewalPurchase } from './purchases/buy.ts'
export type { Approve } from './purchases/complete-payment.ts'
export {
  adoptPurchase,
  type Buyer,
  beginPurchase,
  endPurchase,
  unfinishedPurchases,
} from './purchases/open-purchases.ts'
export { forgetUnansweredPayment, paidButUnfinished, releaseUnpaid } from './purchases/purchase.ts'
export { forgetPurchase, type PurchaseRecord, readPurchase } from './purchases/purchase-journal.ts'
export { payableLeg } from './purchases/quote.ts'
export type {
  S3CredentialOptions,
  S3KeyOptions,
  WalletS3CredentialOptions,
  WalletS3KeyOptions,
} from './s3-credentials.ts'
export type { ShareOptions } from './shares.ts'
export * from './signers.ts'
export type { NetworkFee, SignedPayment, Wallet } from './wallets/wallet.ts'
