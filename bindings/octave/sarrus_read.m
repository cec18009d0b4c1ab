% Reads a table of results that `sarrus run --out` has written, CSV or HDF5 (docs/using/results.md). Octave and MATLAB.
%
%   r = sarrus_read("double.csv");
%   r.names, r.units                 cell arrays, one entry a column
%   r.table                          rows x columns
%   sarrus_column(r, "q.theta")      a column by its name
%   r.provenance                     version, model, method, tolerances
function r = sarrus_read(path)
  signature = read_start(path, 8);
  if isequal(signature, [137 72 68 70 13 10 26 10])  % every HDF5 file begins so
    r = read_hdf5(path);
  else
    r = read_csv(path);
  end
  if numel(r.names) ~= size(r.table, 2)
    error("sarrus_read: %s has %d names and %d columns", path, numel(r.names), size(r.table, 2));
  end
end

function bytes = read_start(path, n)
  file = fopen(path, "rb");
  if file < 0
    error("sarrus_read: %s could not be opened", path);
  end
  bytes = fread(file, n, "uint8")';
  fclose(file);
end

% A line "# provenance", a line "name [unit],name [unit],...", then rows.
function r = read_csv(path)
  file = fopen(path, "r");
  r.provenance = "";
  line = fgetl(file);
  skipped = 1;
  while ischar(line) && (isempty(line) || line(1) == "#")
    if ~isempty(line)
      r.provenance = strtrim(line(2:end));
    end
    line = fgetl(file);
    skipped = skipped + 1;
  end
  fclose(file);
  if ~ischar(line)
    error("sarrus_read: %s has no line of names", path);
  end
  heads = strtrim(strsplit(line, ","));
  r.names = regexprep(heads, '\s*\[[^\]]*\]$', "");
  r.units = regexprep(heads, '^[^\[]*\[?([^\]]*)\]?$', "$1");
  r.table = dlmread(path, ",", skipped, 0);
end

% Data sets table, names, units. Both programs read arrays by columns: the rows of the table come transposed.
function r = read_hdf5(path)
  if exist("OCTAVE_VERSION", "builtin")
    file = load("-hdf5", path);
    r.names = cellstr(file.names)';
    r.units = cellstr(file.units)';
    r.table = file.table';
  else
    r.names = deblank(cellstr(h5read(path, "/names")))';
    r.units = deblank(cellstr(h5read(path, "/units")))';
    r.table = h5read(path, "/table")';
  end
  r.provenance = "";  % an attribute of the root, which Octave's load leaves out
end
