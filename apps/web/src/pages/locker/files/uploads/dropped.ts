// Files from a drop or a picker, folders with all that is in them.

export interface ChosenFile {
  /** With the folders that were chosen with it. */
  path: string
  file: File
  /** Reads the same file after a reload, where the browser can. */
  handle: FileSystemFileHandle | null
}

/** Call it in the event itself: what was dropped is gone after it. */
export async function chosenByDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file')
  const taken = items.map((item) => ({
    handle: (item as Partial<WithHandle>).getAsFileSystemHandle?.().catch(() => null) ?? null,
    entry: item.webkitGetAsEntry(),
    file: item.getAsFile(),
  }))
  const chosen: ChosenFile[] = []
  for (const { handle, entry, file } of taken) {
    const found = await handle
    if (found) await addHandle(chosen, '', found)
    else if (entry) await addEntry(chosen, '', entry)
    else if (file) chosen.push({ path: file.name, file, handle: null })
  }
  return chosen
}

/** Not every browser has it, and TypeScript does not know it yet. */
interface WithHandle {
  getAsFileSystemHandle(): Promise<FileSystemHandle | null>
}

export function chosenByPicker(files: FileList): ChosenFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file, handle: null }))
}

async function addHandle(chosen: ChosenFile[], parent: string, handle: FileSystemHandle): Promise<void> {
  const path = parent + handle.name
  if (handle.kind === 'file') {
    const file = handle as FileSystemFileHandle // by its kind
    chosen.push({ path, file: await file.getFile(), handle: file })
    return
  }
  const folder = handle as unknown as AsyncIterable<[string, FileSystemHandle]> // as folders are, by its kind
  for await (const [, child] of folder) await addHandle(chosen, `${path}/`, child)
}

async function addEntry(chosen: ChosenFile[], parent: string, entry: FileSystemEntry): Promise<void> {
  const path = parent + entry.name
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    chosen.push({ path, file, handle: null })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // It gives some at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return
    for (const child of some) await addEntry(chosen, `${path}/`, child)
  }
}
