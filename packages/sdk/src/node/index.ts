// For programs on Node: files, folders, key files and a journal on disk.

export { nodeNetwork } from '../wallets/node-network.ts'
export { fileJournal } from './file-journal.ts'
export { fileSource, type SaveOptions, saveAs } from './files.ts'
export { type FolderOptions, type Found, type FoundFile, folderSource, type WalkOptions, walk } from './folder.ts'
export { readIdentityFile } from './identity-file.ts'
export { type Key, KeyFileError, parseKey, readKeyFile, readPrivately } from './key-file.ts'
export {
  DERIVATION_PATHS,
  keyTextOfKeystore,
  keyTextOfMnemonic,
  type MnemonicOptions,
  newKeyText,
  writeKeyFile,
} from './make-key.ts'
