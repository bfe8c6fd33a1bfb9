// Client-side encryption in the age format, for Node and browsers.

export { decrypted, decryptedDownload, type SniffedDownload, sniffed } from './decrypt.ts'
export { encrypted } from './encrypt.ts'
export { type EncryptionKey, identityKey, newIdentity, passphraseKey, walletIdentity, walletKey } from './keys.ts'
export { isRecipient, recipientOf } from './recipients.ts'
