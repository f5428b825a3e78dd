-- Drives Neovim's own client through every dialect and prints one line for each check: `ok WHAT` or `not ok WHAT`.

local program, root = vim.env.PURLIN, vim.env.PURLIN_ROOT
local lines = {}

local function note(good, what)
  table.insert(lines, (good and "ok " or "not ok ") .. what)
end

local client = vim.lsp.start_client({ name = "purlin", cmd = { program, "lsp" }, root_dir = root })

local function open(file)
  vim.cmd("edit " .. vim.fn.fnameescape(root .. "/" .. file))
  local buffer = vim.api.nvim_get_current_buf()
  vim.lsp.buf_attach_client(buffer, client)
  return buffer
end

-- The position of a text, and some bytes into it.
local function place(buffer, text, into)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local start = line:find(text, 1, true)
    if start then
      return { line = number - 1, character = start - 1 + into }
    end
  end
  error("no `" .. text .. "` in the buffer")
end

local function ask(buffer, method, at, more)
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = at }
  params = vim.tbl_extend("force", params, more or {})
  local answers = vim.lsp.buf_request_sync(buffer, "textDocument/" .. method, params, 60000)
  local answer = answers and answers[client]
  return answer and answer.result
end

local function problems(buffer, wanted)
  return vim.wait(60000, function()
    return (#vim.diagnostic.get(buffer) > 0) == wanted
  end, 20)
end

local function has_label(answer, label)
  for _, item in ipairs((answer or {}).items or answer or {}) do
    if item.label == label then
      return true
    end
  end
  return false
end

local function contains(buffer, text)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n"):find(text, 1, true) ~= nil
end

local function try(case)
  local buffer = open(case.file)
  local sound = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  vim.wait(60000, function()
    return vim.lsp.get_client_by_id(client).initialized
  end, 20)

  local broken = vim.deepcopy(sound)
  for number, line in ipairs(broken) do
    local start, stop = line:find(case.wrong[1], 1, true)
    if start then
      broken[number] = line:sub(1, start - 1) .. case.wrong[2] .. line:sub(stop + 1)
      break
    end
  end
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, broken)
  note(problems(buffer, true), case.name .. " diagnostics")
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, sound)
  note(problems(buffer, false), case.name .. " mended")

  local proposals = ask(buffer, "completion", place(buffer, case.complete[1], case.complete[2]))
  note(has_label(proposals, case.complete[3]), case.name .. " completion")

  local hover = ask(buffer, "hover", place(buffer, case.hover[1], case.hover[2]))
  local shown = hover and hover.contents and hover.contents.value or ""
  note(shown:find(case.hover[3], 1, true) ~= nil, case.name .. " hover")

  local found = ask(buffer, "definition", place(buffer, case.definition[1], case.definition[2]))
  local uri = found and found[1] and found[1].uri or ""
  note(uri:sub(-#case.definition[3]) == case.definition[3], case.name .. " definition")

  local edit = ask(buffer, "rename", place(buffer, case.rename[1], case.rename[2]), { newName = "renamed" })
  if edit then
    vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  end
  note(edit ~= nil and contains(buffer, "renamed"), case.name .. " rename")
end

local cases = {
  {
    name = "garden",
    file = "garden/part0/garden.yml",
    wrong = { "var.host", "var.hots" },
    complete = { "${var.host}", 6, "level" },
    hover = { "${var.host}", 7, "example.com" },
    definition = { "${var.host}", 7, "project.garden.yml" },
    rename = { "name: build-1", 7 },
  },
  {
    name = "charts",
    file = "charts/chart0/templates/deployment.yaml",
    wrong = { ".Values.replicas }}", ".Values.replicas" },
    complete = { ".Values.image.tag", 14, "repository" },
    hover = { "include \"app.name\"", 2, "include" },
    definition = { ".Values.image.tag", 15, "values.yaml" },
    rename = { ".Values.image.tag", 15 },
  },
  {
    name = "skaffold",
    file = "skaffold/skaffold.yaml",
    wrong = { "artifacts:", "artifcats:" },
    complete = { "tagPolicy", 0, "artifacts" },
    hover = { "artifacts", 2, "artifacts" },
    definition = { "- image: base", 10, "skaffold.yaml" },
    rename = { "- name: dev", 9 },
  },
  {
    name = "tosca",
    file = "tosca/service.yaml",
    wrong = { "type: app.Server", "type: app.Sever" },
    complete = { "type: app.Server", 6, "app.Server" },
    hover = { "derived_from", 2, "derived_from" },
    definition = { "type: app.Server", 8, "service.yaml" },
    rename = { "node-1:", 1 },
  },
  {
    name = "unfurl",
    file = "ensemble/ensemble.yaml",
    wrong = { "type: tosca:Root", "type: tosca:Rot" },
    complete = { "inputs:", 0, "outputs" },
    hover = { "service_template", 2, "TOSCA" },
    definition = { "web:", 1, "ensemble.yaml" },
    rename = { "web:", 1 },
  },
}

for _, case in ipairs(cases) do
  local good, why = pcall(try, case)
  if not good then
    note(false, case.name .. ": " .. tostring(why))
  end
end
vim.fn.writefile(lines, vim.env.PURLIN_OUT)
vim.cmd("qall!")
